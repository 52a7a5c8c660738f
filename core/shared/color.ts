/**
 * The colors of tags and content pillars. A new tag gets the color that the tags of its workspace use least. If there
 * are several such colors, it gets the first of them in this list.
 */
export const COLORS = ['red', 'yellow', 'green', 'blue', 'purple', 'brown'] as const;
export type Color = (typeof COLORS)[number];
