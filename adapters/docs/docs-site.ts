import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { OpenApiDocument } from './documented-operations.ts';
import { ERRORS_PAGE, guides, REFERENCE_PAGE } from './pages.ts';

/** The parts of a request for a content that its response depends on. */
interface DocsRequest {
  readonly acceptsGzip: boolean;
  /** The header `If-None-Match`. */
  readonly ifNoneMatch: string | undefined;
}

/** A response of the documentation. The headers are names, each followed by its value. */
interface DocsResponse {
  readonly status: 200 | 304;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** The documentation: pages with their files, the OpenAPI document, and a text for language models. */
export interface DocsSite {
  readonly paths: readonly string[];
  /**
   * Responds to a GET of one of the paths. Rejects if a file of the documentation cannot be read. Then the next call
   * tries again.
   */
  respond(path: string, request: DocsRequest): Promise<DocsResponse>;
}

/** A content that is the same for every client. Its modules are loaded when it is created, to start faster. */
interface Content {
  readonly type: string;
  create(): Promise<string>;
}

const HTML_TYPE = 'text/html; charset=utf-8';
const createContent = (type: string, create: Content['create']): Content => ({ type, create });
const createFile = (name: string, type: string) => ({
  // Files are read from the sources, because the build does not copy the folder `static` to `dist`.
  [`/docs/files/${name}`]: createContent(type, async () =>
    (await import('./guides.ts')).readDocsFile(`adapters/docs/static/${name}`),
  ),
});

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
  ...Object.fromEntries(
    guides.map((guide) => [
      guide.path,
      createContent(HTML_TYPE, async () => (await import('./guides.ts')).renderGuidePage(guide)),
    ]),
  ),
  ...createFile('favicon.svg', 'image/svg+xml'),
  ...createFile('reference.js', 'text/javascript; charset=utf-8'),
  ...createFile('docs.css', 'text/css; charset=utf-8'),
};

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
    async respond(path, { acceptsGzip, ifNoneMatch = '' }) {
      const content = contents[path] as Content;
      const representation = representations.get(path) ?? represent(content);
      representations.set(path, representation);
      representation.catch(() => representations.delete(path));
      const { plain, gzipped, etag } = await representation;
      return {
        status: ifNoneMatch === '*' || ifNoneMatch.includes(etag) ? 304 : 200,
        headers: [
          ...['Content-Type', content.type, 'Vary', 'Accept-Encoding'],
          ...(acceptsGzip ? ['Content-Encoding', 'gzip'] : []),
          // The tag is weak, because both forms of a content have the same tag.
          ...['ETag', `W/${etag}`, 'Cache-Control', path === '/openapi.json' ? 'no-store' : 'no-cache'],
          ...(content.type === HTML_TYPE ? PAGE_HEADERS : []),
        ],
        body: acceptsGzip ? gzipped : plain,
      };
    },
  };
}

/** Creates the two forms in which a content is sent, and their tag. */
async function represent(content: Content) {
  const plain = Buffer.from(await content.create());
  const etag = `"${createHash('sha256').update(plain).digest('base64url')}"`;
  return { plain, gzipped: await promisify(gzip)(plain), etag };
}
