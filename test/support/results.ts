/** Begins the line by which the runner learns how a file of tests ended. */
export const RESULTS = '#results ';
