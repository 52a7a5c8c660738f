import type { IncomingMessage } from 'node:http';

/** The maximum number of chunks that are joined. Each takes about 700 bytes of memory in addition to its content. */
const MAX_CHUNK_COUNT = 256;

/**
 * Joins the chunks of a request body that arrive at the same time. Without this, a body in chunks of one byte would
 * take 700 times its length, also while the request waits and nobody reads its body.
 */
export function joinChunks(request: IncomingMessage): void {
  const push = request.push.bind(request);
  let chunks: Buffer[] = [];
  const flush = (): boolean => {
    const joined = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    chunks = [];
    return joined?.length === 0 || push(joined);
  };
  request.push = (chunk: Buffer | null): boolean => {
    if (chunk === null) {
      flush();
      return push(null);
    }
    if (chunks.push(chunk) === 1) setImmediate(flush);
    return chunks.length < MAX_CHUNK_COUNT || flush();
  };
}
