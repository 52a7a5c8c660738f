const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** A line of a file. */
export interface Line {
  /** The first line has number 1. */
  readonly number: number;
  /** The content without the newline. `undefined` if the line is too long. */
  readonly bytes: Uint8Array | undefined;
}

/**
 * Yields the lines of a stream, without a byte-order mark at its start. A line of more than `maxLength` bytes has no
 * content. Buffers at most one chunk and one line.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, maxLength: number): AsyncGenerator<Line> {
  let number = 0;
  let parts: Uint8Array[] = [];
  let length = 0;
  const addPart = (part: Uint8Array) => {
    length += part.length;
    if (length <= maxLength) parts.push(part);
    else parts = [];
  };
  const finishLine = (): Line => {
    const bytes = length <= maxLength ? Buffer.concat(parts) : undefined;
    parts = [];
    length = 0;
    const hasMark = ++number === 1 && bytes?.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
    return { number, bytes: hasMark ? bytes?.subarray(BYTE_ORDER_MARK.length) : bytes };
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let index = chunk.indexOf(NEWLINE); index >= 0; index = chunk.indexOf(NEWLINE, start)) {
      addPart(chunk.subarray(start, index));
      yield finishLine();
      start = index + 1;
    }
    addPart(chunk.subarray(start));
  }
  if (length > 0) yield finishLine();
}
