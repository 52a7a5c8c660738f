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
  let length = 0;
  const flush = (): boolean => {
    const joined = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    chunks = [];
    length = 0;
    return joined?.length === 0 || push(joined);
  };
  request.push = (chunk: Buffer | null): boolean => {
    if (chunk === null) {
      flush();
      return push(null);
    }
    if (chunks.push(chunk) === 1) setImmediate(flush);
    length += chunk.length;
    if (chunks.length === MAX_CHUNK_COUNT || length >= request.readableHighWaterMark) return flush();
    // `false` pauses the connection until the body is read.
    return request.readableLength < request.readableHighWaterMark;
  };
}
