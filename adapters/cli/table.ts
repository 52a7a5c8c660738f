import { harmless } from './terminal-text.ts';

const GAP = '  ';
const MIN_WIDTH_CELLS = 4;
const ELLIPSIS = '…';

/** The widths of a table's columns, in cells of a terminal. */
export type Widths = readonly number[];

/**
 * Returns the widths that the headings and some rows need. If `maxWidth` is given, the widest columns are narrowed until a
 * line fits. The first column, which has the id, is narrowed last.
 */
export function widthsOf(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  maxWidth = Number.POSITIVE_INFINITY,
): Widths {
  const lines = [columns, ...rows.map((cells) => cells.map(harmless))];
  const widths = columns.map((_, i) => lines.reduce((widest, cells) => Math.max(widest, widthOf(cells[i] ?? '')), 0));
  const gaps = GAP.length * (columns.length - 1);
  let excess = widths.reduce((sum, width) => sum + width, gaps) - maxWidth;
  for (; excess > 0; excess--) {
    const widest = widths.indexOf(Math.max(...widths.slice(1)), 1);
    const narrowed = (widths[widest] ?? 0) > MIN_WIDTH_CELLS ? widest : 0;
    if ((widths[narrowed] as number) <= MIN_WIDTH_CELLS) break;
    (widths[narrowed] as number)--;
  }
  return widths;
}

/** Returns a line of a table. Cells that are too wide are cut with `…` if `isCut` is set. Otherwise they shift the cells after them. */
export function tableLine(cells: readonly string[], widths: Widths, isCut: boolean): string {
  return cells
    .map((cell, i) => {
      const width = widths[i] as number;
      const text = isCut ? cut(harmless(cell), width) : harmless(cell);
      return text + ' '.repeat(Math.max(0, width - widthOf(text)));
    })
    .join(GAP)
    .trimEnd();
}

/** Returns a text of at most `width` cells. It ends with `…` if it was cut. */
function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  let left = width - ELLIPSIS.length;
  for (const { segment } of graphemes.segment(text)) {
    left -= widthOfGrapheme(segment);
    if (left < 0) break;
    kept += segment;
  }
  return kept + ELLIPSIS;
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const ASCII = /^[\x20-\x7e]*$/;
const NO_WIDTH = /^[\p{M}\p{Cf}]$/u;
/** East Asian wide characters, and emoji: those that are emoji by default, and those that U+FE0F makes emoji. */
const WIDE =
  /\ufe0f|[\u1100-\u115f\u2e80-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;

/** Returns how many cells of a terminal a text takes. This is an estimate, because terminals differ. */
function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += widthOfGrapheme(segment);
  return width;
}

function widthOfGrapheme(grapheme: string): number {
  if (WIDE.test(grapheme)) return 2;
  return [...grapheme].filter((character) => !NO_WIDTH.test(character)).length;
}

/** A number of things, as it is said: `1 member`, `2 members`. */
export function counted(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
