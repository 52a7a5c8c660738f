/** All that a source gives, as an array (`Array.fromAsync`, which Node 20 has not). */
export async function collectAll<T>(source: AsyncIterable<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of source) values.push(value);
  return values;
}
