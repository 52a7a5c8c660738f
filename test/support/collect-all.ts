/** Returns all values of a source as an array. Node 20 has no `Array.fromAsync`. */
export async function collectAll<T>(source: AsyncIterable<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of source) values.push(value);
  return values;
}
