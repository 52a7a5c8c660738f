/** The colors of tags and content pillars. If several colors are the least used, the first of this list is chosen. */
export const COLORS = ['red', 'yellow', 'green', 'blue', 'purple', 'brown'] as const;
export type Color = (typeof COLORS)[number];
