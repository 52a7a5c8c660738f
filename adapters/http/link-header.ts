import { createInvalidFieldsError } from '../../core/shared/core-error.ts';
import type { QueryValues } from './query-string.ts';

/**
 * The maximum length of a `Link` header. With this maximum, all headers of a response together stay below 8 KB, a size
 * that proxies and clients accept (Node's fetch accepts 16 KB). Two links with 100 IDs each fit.
 */
const MAX_LINK_BYTES = 7_600;

type Encode = (text: string) => string;

/**
 * Returns the `Link` header of a page of a list (RFC 8288): `next` if the next page has items, and `prev` from page 2
 * on. `after` is the parameter of the next page, if the list has it instead of `page`. The links are relative URLs and
 * keep all other parameters. If the links are too long, their parameters are written as short as possible. If that is
 * not enough, `prev` is omitted. Throws `invalid` if the query is too long for `next`, because a client would mistake a
 * page without `next` for the last one (docs/adr/0016-http.md).
 */
export function formatPageLinks(
  path: string,
  query: QueryValues,
  hasNext: boolean,
  after?: string,
): string | undefined {
  const page = Number(query.page?.[0] ?? 1);
  const createLinks = (parameters: string) => {
    const link = (position: string, relation: string) => `<${path}?${parameters}${position}>; rel="${relation}"`;
    const next = after === undefined ? `page=${page + 1}` : `after=${after}`;
    return [...(hasNext ? [link(next, 'next')] : []), ...(page > 1 ? [link(`page=${page - 1}`, 'prev')] : [])];
  };
  if (!hasNext && page === 1) return undefined;
  const links = createLinks(formatParameters(query, encodeURIComponent, false)).join(', ');
  if (links.length <= MAX_LINK_BYTES) return links;
  const shortLinks = createLinks(formatParameters(query, encodeShort, true));
  // All links, or else only the first one: `next`, or `prev` on the last page.
  const fitting = [shortLinks.join(', '), shortLinks[0] as string].find(({ length }) => length <= MAX_LINK_BYTES);
  if (fitting === undefined && hasNext) throw createTooLongError(query);
  return fitting;
}

/**
 * Returns the parameters except `page` and `after`, each followed by `&`. If `joinsValues` is set, joins the values of
 * a parameter with commas.
 */
function formatParameters(query: QueryValues, encode: Encode, joinsValues: boolean): string {
  let parameters = '';
  for (const [name, values] of Object.entries(query)) {
    if (name === 'page' || name === 'after') continue;
    const sentValues = joinsValues ? [[...new Set(values)].join(',')] : values;
    for (const value of sentValues) parameters += `${encode(name)}=${encode(value)}&`;
  }
  return parameters;
}

/**
 * Percent-encodes only the characters that RFC 3986 forbids in a query, and `&`, `=` and `+`, which have a meaning in
 * form data. A space becomes `+`.
 */
const encodeShort: Encode = (text) =>
  encodeURIComponent(text)
    .replace(/%20/g, '+')
    .replace(/%(?:24|2C|2F|3A|3B|3F|40)/g, decodeURIComponent);

function createTooLongError(query: QueryValues): Error {
  const getLength = (name: string) => encodeShort((query[name] ?? []).join(',')).length;
  const [longest = ''] = Object.keys(query).sort((a, b) => getLength(b) - getLength(a));
  return createInvalidFieldsError([
    { path: longest, problem: 'is too long for the link to the next page, send fewer or shorter values' },
  ]);
}
