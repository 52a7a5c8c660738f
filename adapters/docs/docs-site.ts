import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { OpenApiDocument } from './documented-operations.ts';
import { DASHBOARD_PAGE, ERRORS_PAGE, guides, REFERENCE_PAGE } from './pages.ts';

/** The documentation: pages with their files, the OpenAPI document, and a text for language models. */
export interface DocsSite {
  readonly paths: readonly string[];
  /**
   * Responds to a GET of one of the paths, with a compressed body if `isCompressed` is set. The headers are names, each
   * followed by its value. Rejects if a file of the documentation cannot be read. Then the next call tries again.
   */
  respond(path: string, isCompressed: boolean): Promise<{ readonly headers: readonly string[]; readonly body: Buffer }>;
}

/** A content that is the same for every client. Its modules are loaded when it is created, to start faster. */
interface Content {
  readonly type: string;
  create(): Promise<string>;
}

const HTML_TYPE = 'text/html; charset=utf-8';
const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
const STYLE_TYPE = 'text/css; charset=utf-8';
const createContent = (type: string, create: Content['create']): Content => ({ type, create });
/** By default, a file is read from the sources, because the build does not copy the folder `static` to `dist`. */
const createFile = (
  name: string,
  type: string,
  read = async () => (await import('./guides.ts')).readDocsFile(`adapters/docs/static/${name}`),
) => ({ [`/docs/files/${name}`]: createContent(type, read) });

const readModule = (url: string) => readFile(new URL(url), 'utf8');

let document: Promise<OpenApiDocument> | undefined;

/** Returns the OpenAPI document. Creating it takes a fifth of a second. */
function getDocument(): Promise<OpenApiDocument> {
  document ??= import('../api/openapi.ts').then((it) => it.createOpenApiDocument() as unknown as OpenApiDocument);
  return document;
}

const contents: Readonly<Record<string, Content>> = {
  '/openapi.json': createContent('application/json; charset=utf-8', async () => JSON.stringify(await getDocument())),
  '/llms.txt': createContent('text/plain; charset=utf-8', async () => (await import('./llms.ts')).renderLlmsText()),
  [REFERENCE_PAGE.path]: createContent(HTML_TYPE, async () =>
    (await import('./reference.ts')).renderReferencePage(await getDocument()),
  ),
  [ERRORS_PAGE.path]: createContent(HTML_TYPE, async () => (await import('./errors-page.ts')).renderErrorsPage()),
  [DASHBOARD_PAGE.path]: createContent(HTML_TYPE, async () =>
    (await import('./dashboard-page.ts')).renderDashboardPage(),
  ),
  ...Object.fromEntries(
    guides.map((guide) => [
      guide.path,
      createContent(HTML_TYPE, async () => (await import('./guides.ts')).renderGuidePage(guide)),
    ]),
  ),
  ...createFile('favicon.svg', 'image/svg+xml'),
  ...createFile('api-key.js', SCRIPT_TYPE),
  ...createFile('navigation.js', SCRIPT_TYPE),
  ...createFile('reference.js', SCRIPT_TYPE),
  ...createFile('dashboard.js', SCRIPT_TYPE),
  ...createFile('dashboard-charts.js', SCRIPT_TYPE),
  ...createFile('uplot.js', SCRIPT_TYPE, () => readModule(import.meta.resolve('uplot/dist/uPlot.esm.js'))),
  ...createFile('docs.css', STYLE_TYPE),
  ...createFile('dashboard.css', STYLE_TYPE),
  ...createFile('uplot.css', STYLE_TYPE, () => readModule(import.meta.resolve('uplot/dist/uPlot.min.css'))),
};

/** Pages and their files are used for a minute after an upgrade. */
const MAX_AGE = 'max-age=60';

const PAGE_HEADERS = [
  'Content-Security-Policy',
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy',
  'no-referrer',
];

/** Creates the documentation. Each content is created and compressed once, at its first request. */
export function createDocsSite(): DocsSite {
  const representations = new Map<string, ReturnType<typeof represent>>();
  return {
    paths: Object.keys(contents),
    async respond(path, isCompressed) {
      const content = contents[path] as Content;
      const representation = representations.get(path) ?? represent(content);
      representations.set(path, representation);
      representation.catch(() => representations.delete(path));
      const { plain, compressed } = await representation;
      return {
        headers: [
          ...['Content-Type', content.type, 'Vary', 'Accept-Encoding'],
          ...(isCompressed ? ['Content-Encoding', 'gzip'] : []),
          ...['Cache-Control', path === '/openapi.json' ? 'no-store' : MAX_AGE],
          ...(content.type === HTML_TYPE ? PAGE_HEADERS : []),
        ],
        body: isCompressed ? compressed : plain,
      };
    },
  };
}

/** Creates the two forms in which a content is sent. */
async function represent(content: Content) {
  const plain = Buffer.from(await content.create());
  return { plain, compressed: await promisify(gzip)(plain) };
}
