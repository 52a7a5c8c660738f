/**
 * Returns a function that caches the results of `compute` for frozen arguments, because these cannot change. A result is
 * frozen too, and is cached as long as its argument is referenced. Results for other arguments are not cached
 * (docs/adr/0014-batching.md).
 */
export function memoize<K extends object, V>(compute: (key: K) => V): (key: K) => V {
  const cache = new WeakMap<K, V>();
  return (key) => {
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    const value = compute(key);
    if (Object.isFrozen(key)) cache.set(key, Object.freeze(value));
    return value;
  };
}
