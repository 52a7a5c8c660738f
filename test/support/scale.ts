/** Whether all of the long tests is run, as in `npm run test:faults`, or the little that `npm test` has of them. */
export const isLong = process.env.TEST_SCALE === 'long';

export function scale(quick: number, long: number): number {
  return isLong ? long : quick;
}

/** How long the soak lasts; the time that tests may take grows with it. */
export const SOAK_SECONDS = Number(process.env.SOAK_SECONDS ?? 40);
