/** Returns the parameters of the next page of a list: `after` for a list of events, and otherwise `page`. */
export function getNextPage(body: string, page: number): Readonly<Record<string, string>> {
  const sequence = JSON.parse(body).at(-1).sequence;
  return sequence === undefined ? { page: `${page + 1}` } : { after: `${sequence}` };
}
