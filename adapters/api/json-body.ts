import { createInvalidFieldsError } from '../../core/shared/core-error.ts';
import { formatName } from './parse.ts';

/**
 * The error for a body that is not a JSON object. `problem` follows "The request body" in a sentence, such as `is not
 * valid JSON`.
 */
export class MalformedBody extends Error {
  override readonly name = 'MalformedBody';

  constructor(readonly problem: string) {
    super(`The request body ${problem}.`);
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The maximum nesting depth of a body. No schema is this deep, so a body that is nested deeper fails the validation
 * anyway.
 */
const MAX_DEPTH = 32;
/**
 * The maximum number of field names, objects and arrays in a body: almost twice as many as in the largest valid body, a
 * campaign with 50 resources.
 */
const MAX_ELEMENT_COUNT = 1_000;

/**
 * Reads a body, which must be one JSON object in UTF-8. Throws `MalformedBody` if it is not. Throws a `CoreError`
 * (`invalid`) if the body has more than 1,000 field names, objects and arrays. Values nested deeper than 32 levels are
 * skipped: they are neither validated nor returned.
 */
export function readJson(bytes: Uint8Array): object {
  const value = parseJson(limitDepthAndElements(bytes));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw createNotAnObjectError();
  return value;
}

function createNotAnObjectError(): MalformedBody {
  return new MalformedBody('must be a JSON object');
}

function parseJson(bytes: Uint8Array): unknown {
  let text = '';
  try {
    text = utf8.decode(bytes);
    return JSON.parse(text);
  } catch (error) {
    if (text.startsWith('\ufeff')) throw new MalformedBody('must not start with a byte-order mark');
    throw new MalformedBody(error instanceof SyntaxError ? 'is not valid JSON' : 'is not valid UTF-8');
  }
}

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Empties the arrays and objects that are nested deeper than the maximum, and rejects a body with too many elements
 * (field names, objects and arrays). Without this, 1 MiB of brackets blocks the process for 0.16 s in `JSON.parse`, and
 * 1 MiB of names for 0.1 to 0.2 s. This scan takes 1 to 3 ms.
 */
function limitDepthAndElements(bytes: Uint8Array): Uint8Array {
  const chunks: Uint8Array[] = [];
  let chunkStart = 0;
  let depth = 0;
  let elementCount = 0;
  // The positions of the last string and of the last field name at depth 1. The error of too many elements names this
  // field.
  let [stringStart, stringEnd] = [0, 0];
  let [fieldStart, fieldEnd] = [0, 0];
  for (let index = 0; index < bytes.length; index++) {
    switch (bytes[index]) {
      case QUOTE:
        stringStart = index;
        stringEnd = findStringEnd(bytes, index);
        index = stringEnd - 1;
        break;
      case COLON:
        if (depth === 1) [fieldStart, fieldEnd] = [stringStart, stringEnd];
        if (depth <= MAX_DEPTH) elementCount++;
        break;
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        if (depth <= MAX_DEPTH) elementCount++;
        if (depth++ === MAX_DEPTH) chunks.push(bytes.subarray(chunkStart, index + 1));
        break;
      case CLOSE_ARRAY:
      case CLOSE_OBJECT:
        if (--depth === MAX_DEPTH) chunkStart = index;
    }
    if (elementCount > MAX_ELEMENT_COUNT) throw createTooManyElementsError(bytes.subarray(fieldStart, fieldEnd));
  }
  if (depth > MAX_DEPTH) chunkStart = bytes.length;
  return chunks.length === 0 ? bytes : Buffer.concat([...chunks, bytes.subarray(chunkStart)]);
}

/**
 * Returns the error of a body with too many elements. If the body is an object, names the field that exceeds the
 * maximum.
 */
function createTooManyElementsError(field: Uint8Array): Error {
  if (field.length === 0) return createNotAnObjectError();
  const problem = `too many elements, the body must have at most ${MAX_ELEMENT_COUNT} field names, objects and arrays`;
  return createInvalidFieldsError([{ path: formatName(String(parseJson(field))), problem }]);
}

/**
 * Returns the end of the string that starts with the quotation mark at `start`, or the end of `bytes` if the string
 * does not end.
 */
function findStringEnd(bytes: Uint8Array, start: number): number {
  for (let index = start + 1; index < bytes.length; index++) {
    if (bytes[index] === BACKSLASH) index++;
    else if (bytes[index] === QUOTE) return index + 1;
  }
  return bytes.length;
}

/** Returns the problem of a body that is larger than the limit, in the form of `MalformedBody.problem`. */
export function describeTooLongBody(limitBytes: number): string {
  return `must have at most ${limitBytes} bytes`;
}
