/** A body that is no JSON object; the message is a sentence for whoever sent it. */
export class MalformedBody extends Error {
  override readonly name = 'MalformedBody';
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads a body: one JSON object, in UTF-8. Throws `MalformedBody`. */
export function readJson(bytes: Uint8Array): object {
  const value = jsonOf(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new MalformedBody('The body must be a JSON object.');
  }
  return value;
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch (error) {
    const cause = error instanceof SyntaxError ? 'it is no valid JSON' : 'it is no valid UTF-8';
    throw new MalformedBody(`The body cannot be read: ${cause}.`);
  }
}

/** What is said of a body that is too long. */
export function tooLong(limit: number): string {
  return `The body must have at most ${limit} bytes.`;
}
