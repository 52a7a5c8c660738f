/** The colors of tags and content pillars. If several colors are the least used, a new tag gets the first of them. */
export const COLORS = ['red', 'yellow', 'green', 'blue', 'purple', 'brown'] as const;
export type Color = (typeof COLORS)[number];
