import { Marked, type Tokens } from 'marked';
import { highlight } from './highlight.ts';

/** A heading of a Markdown text. Its `id` is the fragment that GitHub gives to the heading. */
export interface Heading {
  readonly depth: number;
  readonly id: string;
  readonly html: string;
}

/**
 * Returns the URL of a link in a page. If it returns `undefined`, the page shows the text of the link without a link.
 */
export type ResolveLink = (href: string) => string | undefined;

const resolveSafeLink: ResolveLink = (href) => (/^(?:https?:|\/(?!\/)|#)/.test(href) ? href : undefined);

/** Is created once, because creating a parser takes longer than rendering a text. */
const textParser = createParser(resolveSafeLink, []);

/** Renders Markdown without headings as HTML. HTML in the Markdown is shown as text. */
export function renderMarkdown(markdown: string): string {
  return textParser.parse(markdown) as string;
}

/** Renders Markdown without blocks, such as the content of a heading or of a table cell. */
export function renderInlineMarkdown(markdown: string): string {
  return textParser.parseInline(markdown) as string;
}

/** Renders a Markdown file. Also returns its headings below the title. Each of these headings is a link to itself. */
export function renderMarkdownPage(
  markdown: string,
  resolveLink: ResolveLink,
): { readonly html: string; readonly headings: readonly Heading[] } {
  const headings: Heading[] = [];
  const html = createParser(resolveLink, headings).parse(markdown) as string;
  return { html, headings };
}

export function escapeHtml(value: string): string {
  const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return value.replaceAll(/[&<>"]/g, (character) => entities[character] as string);
}

/** Creates a parser that adds the headings of a text, except the title, to `headings`. */
function createParser(resolveLink: ResolveLink, headings: Heading[]): Marked {
  return new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const html = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1>${html}</h1>\n`;
        const id = createFragment(text, headings);
        headings.push({ depth, id, html });
        return `<h${depth} id="${id}"><a href="#${id}">${html}</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const url = resolveLink(href);
        const html = this.parser.parseInline(tokens);
        return url === undefined ? html : `<a href="${escapeHtml(url)}">${html}</a>`;
      },
      // A name such as `SQLITE_FILE` in a narrow first column can break after each `_`.
      tablerow: ({ text }) =>
        `<tr>\n${text.replace(/^.*/, (cell) => cell.replaceAll(/_(?=[^<]*<\/code>)/g, '_<wbr>'))}</tr>\n`,
      code: ({ text, lang = '' }) => `<pre><code>${highlight(text, lang)}</code></pre>\n`,
      image: ({ text }) => escapeHtml(text),
      html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
    },
  });
}

/**
 * Returns the fragment that GitHub gives to a heading. If an earlier heading has this fragment, a number is added to
 * it.
 */
function createFragment(heading: string, earlier: readonly Heading[]): string {
  const fragment = heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
  const isTaken = (id: string) => earlier.some((other) => other.id === id);
  let id = fragment;
  for (let i = 1; isTaken(id); i++) id = `${fragment}-${i}`;
  return id;
}
