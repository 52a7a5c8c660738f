const MOST_VALUES = 1_000;

/**
 * The same function, which remembers what it makes of frozen values: they stay what they are. It makes a frozen value of
 * a frozen one, remembers a thousand, and then begins anew. Of other values it remembers nothing.
 */
export function memoised<K extends object, V>(make: (key: K) => V): (key: K) => V {
  const made = new Map<K, V>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = make(key);
    if (!Object.isFrozen(key)) return value;
    if (made.size === MOST_VALUES) made.clear();
    made.set(key, Object.freeze(value));
    return value;
  };
}
