import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { renderTextPage } from './layout.ts';
import { type ResolveLink, renderMarkdownPage } from './markdown.ts';
import { type Guide, guides } from './pages.ts';

/** Reads a file of the package, such as `docs/guide.md`. Rejects if the installation lacks it. */
export async function readDocsFile(file: string): Promise<string> {
  try {
    return await readFile(new URL(file, import.meta.resolve('workspace-advocacy/package.json')), 'utf8');
  } catch (cause) {
    const message = `The documentation file ${file} cannot be read. It must be beside package.json, as in the repository.`;
    throw new Error(message, { cause });
  }
}

/** Renders the page of a guide, with a list of its sections. */
export async function renderGuidePage(guide: Guide): Promise<string> {
  const { html: content, headings } = await renderGuide(guide);
  const listItems = headings.map(
    ({ depth, id, html }) => `<li class="depth-${depth}"><a href="#${id}">${html}</a></li>`,
  );
  return renderTextPage(guide.title, listItems, content);
}

async function renderGuide(guide: Guide) {
  return renderMarkdownPage(await readDocsFile(guide.file), createLinkResolver(guide));
}

/** A section of a guide. `text` is its text without code blocks. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

/** Returns the sections and subsections of a guide. */
export async function getSections(guide: Guide): Promise<readonly Section[]> {
  const { html } = await renderGuide(guide);
  return [...html.matchAll(/<(h[23]) id="([^"]+)">(.*?)<\/\1>(.*?)(?=<h[23]|$)/gs)].map(([, , id, title, content]) => ({
    id: id as string,
    title: toText(title as string),
    text: toText(content as string),
  }));
}

/** Returns the text of HTML that `markdown.ts` rendered, without code blocks. */
function toText(html: string): string {
  const text = html
    .replaceAll(/<pre>.*?<\/pre>|<[^>]+>/gs, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return text.replaceAll(/&([\w#]+);/g, (entity, name: string) => characters[name] ?? entity);
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

/**
 * Returns the Markdown of a guide as a section of a longer text: its headings are one level lower, and its links lead
 * to pages.
 */
export async function toSiteMarkdown(guide: Guide): Promise<string> {
  const resolveLink = createLinkResolver(guide);
  const markdown = await readDocsFile(guide.file);
  return markdown
    .split(/^(```.*?^```)$/ms)
    .map((part) =>
      part.startsWith('```')
        ? part
        : part.replaceAll(/^#/gm, '##').replaceAll(/\[([^\]]+)\]\(([^)\s]+)\)/g, (_, text: string, href: string) => {
            const url = resolveLink(href);
            return url === undefined ? text : `[${text}](${url})`;
          }),
    )
    .join('');
}
