/** The maximum number of items that are sorted or merged without a pause. */
const STEP_ITEM_COUNT = 2_000;

/** Sorts items, and pauses now and then, so that many items do not delay other requests. */
export async function sortInSteps<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  pause: () => Promise<void>,
): Promise<readonly T[]> {
  if (items.length <= STEP_ITEM_COUNT) return items.toSorted(compare);
  const middle = Math.floor(items.length / 2);
  const left = await sortInSteps(items.slice(0, middle), compare, pause);
  const right = await sortInSteps(items.slice(middle), compare, pause);
  const merged: T[] = [];
  for (let i = 0, j = 0; merged.length < items.length; ) {
    if (merged.length % STEP_ITEM_COUNT === 0) await pause();
    const [a, b] = [left[i], right[j]] as [T, T];
    const isLeftNext = j === right.length || (i < left.length && compare(a, b) <= 0);
    if (isLeftNext) i++;
    else j++;
    merged.push(isLeftNext ? a : b);
  }
  return merged;
}
