const NEWLINE = 0x0a;

/** A line of a file; `bytes` are `undefined` where it is longer than it may be. */
export interface Line {
  readonly number: number;
  readonly bytes: Uint8Array | undefined;
  /** Where the next line begins, in bytes from the beginning of the file. */
  readonly end: number;
}

/** Takes a stream apart into lines, and holds no more of it than a chunk and a line of at most `limit` bytes. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Line> {
  let number = 0;
  let end = 0;
  let parts: Uint8Array[] = [];
  let length = 0;
  const take = (part: Uint8Array) => {
    end += part.length;
    length += part.length;
    if (length <= limit) parts.push(part);
    else parts = [];
  };
  const line = (newline: number): Line => {
    end += newline;
    const bytes = length <= limit ? Buffer.concat(parts) : undefined;
    parts = [];
    length = 0;
    return { number: ++number, bytes, end };
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, start)) {
      take(chunk.subarray(start, at));
      yield line(1);
      start = at + 1;
    }
    take(chunk.subarray(start));
  }
  if (length > 0) yield line(0);
}
