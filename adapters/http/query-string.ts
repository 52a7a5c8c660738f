import { HttpError } from './errors.ts';

/** The values of each query parameter, in the order sent. */
export type QueryValues = Readonly<Record<string, readonly string[]>>;

const NO_VALUES: QueryValues = Object.freeze(Object.create(null));

/** Parses the query of a URL. Throws `bad_request` if its percent-encoding cannot be decoded. */
export function readQuery(url: string): QueryValues {
  const start = url.indexOf('?');
  if (start < 0) return NO_VALUES;
  const values: Record<string, string[]> = Object.create(null);
  for (const pair of url.slice(start + 1).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1));
    const existing = values[name];
    if (existing) existing.push(value);
    else values[name] = [value];
  }
  return values;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new HttpError('bad_request', 'The query cannot be decoded. Check its percent-encoding.');
  }
}
