import { HttpError } from './errors.ts';

export type QueryValues = Readonly<Record<string, readonly string[]>>;

/** The query's parameters, each with the values given for it; refuses what cannot be decoded. */
export function readQuery(url: string): QueryValues {
  const values: Record<string, string[]> = Object.create(null);
  const start = url.indexOf('?');
  if (start < 0) return values;
  for (const pair of url.slice(start + 1).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decoded(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decoded(pair.slice(equals + 1));
    const given = values[name];
    if (given) given.push(value);
    else values[name] = [value];
  }
  return values;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new HttpError('bad_request', 'The query cannot be decoded: check its percent-encoding.');
  }
}
