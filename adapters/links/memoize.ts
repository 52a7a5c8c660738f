const MAX_RESULT_COUNT = 1_000;
/** Results of longer texts are not kept, so that the kept ones need little memory. */
const MAX_TEXT_LENGTH = 500;

/** Returns a function that keeps the results of `compute`. When their number reaches a limit, it evicts all results. */
export function memoize<Result>(compute: (text: string) => Result): (text: string) => Result {
  const results = new Map<string, Result>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known;
    const result = compute(text);
    if (text.length > MAX_TEXT_LENGTH) return result;
    if (results.size >= MAX_RESULT_COUNT) results.clear();
    results.set(text, result);
    return result;
  };
}
