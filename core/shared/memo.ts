/**
 * The same function, which remembers what it makes of frozen values for as long as these live: they stay what they are.
 * It makes a frozen value of a frozen one. Of other values it remembers nothing (docs/adr/0004-memory-storage.md).
 */
export function memoize<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new WeakMap<K, V>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = make(key);
    if (Object.isFrozen(key)) made.set(key, Object.freeze(value));
    return value;
  };
}
