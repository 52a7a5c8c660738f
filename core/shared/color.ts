/** The colours of tags and content pillars, in the order in which a tie between them is decided. */
export const COLORS = ['red', 'yellow', 'green', 'blue', 'purple', 'brown'] as const;
export type Color = (typeof COLORS)[number];
