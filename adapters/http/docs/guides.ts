import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { renderTextPage } from './layout.ts';
import { type ResolveLink, renderMarkdownPage } from './markdown.ts';
import { type Guide, guides } from './pages.ts';

/** Returns the Markdown of a guide. Rejects if the installation lacks the file. */
export async function readGuide({ file }: Guide): Promise<string> {
  try {
    return await readFile(new URL(file, import.meta.resolve('workspace-advocacy/package.json')), 'utf8');
  } catch (cause) {
    const message = `The documentation file ${file} cannot be read. It must be beside package.json, as in the repository.`;
    throw new Error(message, { cause });
  }
}

/** Renders a guide as a page, with a list of its sections. */
export function renderGuidePage(guide: Guide, markdown: string): string {
  const { html: content, headings } = renderMarkdownPage(markdown, createLinkResolver(guide));
  const contents = headings.map(
    ({ depth, id, html }) => `<li class="depth-${depth}"><a href="#${id}">${html}</a></li>`,
  );
  return renderTextPage(guide.title, contents, content);
}

/** A section of a guide. `text` is its text without code blocks. */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

/** Returns the sections and subsections of a guide. */
export function getSections(guide: Guide, markdown: string): Section[] {
  const { html } = renderMarkdownPage(markdown, createLinkResolver(guide));
  return [...html.matchAll(/<(h[23]) id="([^"]+)">(.*?)<\/\1>(.*?)(?=<h[23]|$)/gs)].map(([, , id, title, content]) => ({
    id: id as string,
    title: toText(title as string),
    text: toText(content as string),
  }));
}

/** Removes the code blocks and the tags of HTML that this module rendered. */
function toText(html: string): string {
  const text = html
    .replaceAll(/<pre>.*?<\/pre>|<[^>]+>/gs, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return text.replaceAll(/&([\w#]+);/g, (entity, name: string) => characters[name] ?? entity);
}

/** The pages of files that guides can link to. */
const pathsByFile = new Map([
  ['docs/openapi.json', '/openapi.json'],
  ...guides.map(({ file, path }) => [file, path] as const),
]);

/** Creates a function that resolves links between the files of the repository. Files that are not served get no link. */
function createLinkResolver({ file, path: ownPath }: Guide): ResolveLink {
  return (href) => {
    if (/^https?:/.test(href)) return href;
    const [target = '', fragment] = href.split('#');
    const path = target === '' ? ownPath : pathsByFile.get(posix.join(posix.dirname(file), target));
    return path && (fragment === undefined ? path : `${path}#${fragment}`);
  };
}

/** Returns the Markdown of a guide as a section of a longer text: its headings are one level lower, and its links lead to pages. */
export function toSiteMarkdown(guide: Guide, markdown: string): string {
  const resolveLink = createLinkResolver(guide);
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
