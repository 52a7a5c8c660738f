/** Whether tests run at length, as in `npm run test:faults`, or quickly, as in `npm test`. */
export const isLong = process.env.TEST_SCALE === 'long';

/** Returns `long` in a long run, and otherwise `quick`. */
export function quickOrLong(quick: number, long: number): number {
  return isLong ? long : quick;
}

/** The duration of the soak test. In a long run, the timeout of every test grows with it. */
export const SOAK_SECONDS = Number(process.env.SOAK_SECONDS ?? 40);

/** The time after which a test fails, because it hangs. It is long, because a busy machine may be slow. */
export const TEST_TIMEOUT_MS = Number(
  process.env.TEST_TIMEOUT_MS ?? quickOrLong(180_000, 600_000 + SOAK_SECONDS * 1_500),
);
