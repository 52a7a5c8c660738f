import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { renderPage } from './layout.ts';
import { type ResolveLink, renderMarkdownPage } from './markdown.ts';
import { type Guide, guides } from './pages.ts';

/** Reads a file of the package, such as `docs/guide.md`. */
export function readDocsFile(file: string): Promise<string> {
  return readFile(new URL(file, import.meta.resolve('workspace-advocacy/package.json')), 'utf8');
}

/** Renders the page of a guide, with a list of its sections. */
export async function renderGuidePage(guide: Guide): Promise<string> {
  const { html: content, headings } = renderMarkdownPage(await readDocsFile(guide.file), createLinkResolver(guide));
  const listItems = headings.map(
    ({ depth, id, html }) => `<li class="depth-${depth}"><a href="#${id}">${html}</a></li>`,
  );
  return renderPage(guide.title, listItems, content);
}

/** The paths at which files of the repository are served, by file. Guides can link to these files. */
const pathsByFile = new Map([
  ['docs/openapi.json', '/openapi.json'],
  ...guides.map(({ file, path }) => [file, path] as const),
]);

/**
 * Creates a function that resolves links between the files of the repository. Files that are not served get no link.
 */
function createLinkResolver({ file, path: ownPath }: Guide): ResolveLink {
  return (href) => {
    if (/^https?:/.test(href)) return href;
    const [target = '', fragment] = href.split('#');
    const path = target === '' ? ownPath : pathsByFile.get(posix.join(posix.dirname(file), target));
    return path && (fragment === undefined ? path : `${path}#${fragment}`);
  };
}
