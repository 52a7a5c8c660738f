import { HttpError } from './errors.ts';

/** The values of each query parameter, in the order sent. */
export type QueryValues = Readonly<Record<string, readonly string[]>>;

const NO_VALUES: QueryValues = Object.freeze(Object.create(null));

/** Parses the query of a URL. Throws `bad_request` if its percent-encoding cannot be decoded. */
export function readQuery(url: string): QueryValues {
  const start = url.indexOf('?');
  if (start < 0) return NO_VALUES;
  const query = url.slice(start);
  requireDecodable(query);
  const values: Record<string, string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(query)) {
    values[name] ??= [];
    values[name].push(value);
  }
  return values;
}

/** Throws if the encoding is not valid. `URLSearchParams` would replace the characters that it cannot decode. */
function requireDecodable(query: string): void {
  try {
    decodeURIComponent(query);
  } catch {
    throw new HttpError('bad_request', 'The query cannot be decoded. Check its percent-encoding.');
  }
}
