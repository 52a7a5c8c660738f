import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** A form in which a content is sent, with its strong entity tag. The forms of a content have different tags. */
interface Representation {
  readonly bytes: Buffer;
  readonly etag: string;
}

/** A content that is the same for every client, such as a page or a style sheet, and its compressed form. */
export interface StaticContent {
  readonly plain: Representation;
  readonly gzipped: Representation;
}

export async function createContent(content: string): Promise<StaticContent> {
  const bytes = Buffer.from(content);
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const gzipped = { bytes: await promisify(gzip)(bytes), etag: `"${hash}-gzip"` };
  return { plain: { bytes, etag: `"${hash}"` }, gzipped };
}

/**
 * Returns whether an `If-None-Match` header matches an entity tag: it is `*`, or it has the tag in its list. The
 * comparison is weak (RFC 9110, section 13.1.2). Does not use `request.fresh` of Express, which ignores the header if a
 * request also has `Cache-Control: no-cache`. Node's `fetch` adds this `Cache-Control` header.
 */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(etag);
}
