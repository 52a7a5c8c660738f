import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { HTML_TYPE, mediaTypes } from './pages.ts';

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

/** A content that is the same for every client, such as a page or a style sheet. */
interface Content {
  readonly plain: Buffer;
  readonly gzipped: Buffer;
  readonly etag: string;
}

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
const PAGE_HEADERS = ['Content-Security-Policy', CONTENT_SECURITY_POLICY, 'Referrer-Policy', 'no-referrer'];

/** Creates the documentation. Each content is created and compressed once, at its first request. */
export function createDocsSite(): DocsSite {
  const contents = new Map<string, Promise<Content>>();
  const getContent = (path: string): Promise<Content> => {
    const existing = contents.get(path);
    if (existing) return existing;
    const content = createContent(path);
    contents.set(path, content);
    content.catch(() => contents.delete(path));
    return content;
  };
  return {
    paths: Object.keys(mediaTypes),
    async respond(path, { acceptsGzip, ifNoneMatch = '' }) {
      const { plain, gzipped, etag } = await getContent(path);
      const type = mediaTypes[path] as string;
      return {
        status: ifNoneMatch === '*' || ifNoneMatch.includes(etag) ? 304 : 200,
        headers: [
          ...['Content-Type', type, 'Vary', 'Accept-Encoding'],
          ...(acceptsGzip ? ['Content-Encoding', 'gzip'] : []),
          // The tag is weak, because both forms of a content have the same tag.
          ...['ETag', `W/${etag}`, 'Cache-Control', path === '/openapi.json' ? 'no-store' : 'no-cache'],
          ...(type === HTML_TYPE ? PAGE_HEADERS : []),
        ],
        body: acceptsGzip ? gzipped : plain,
      };
    },
  };
}

async function createContent(path: string): Promise<Content> {
  // Loaded at the first request, so that the service starts faster.
  const { createText } = await import('./contents.ts');
  const plain = Buffer.from(await createText(path));
  const etag = `"${createHash('sha256').update(plain).digest('base64url')}"`;
  return { plain, gzipped: await promisify(gzip)(plain), etag };
}
