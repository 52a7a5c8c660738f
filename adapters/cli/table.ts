import { replaceControlCharacters } from '../logging/terminal-text.ts';

const COLUMN_SEPARATOR = '  ';
const MIN_COLUMN_WIDTH = 4;
const ELLIPSIS = '…';

/** The widths of a table's columns. The unit of each width in this file is the width of a Latin letter in a terminal. */
export type ColumnWidths = readonly number[];

/**
 * Returns the column widths that the headings and some rows need. If `maxWidth` is given, narrows the widest columns until
 * a line fits, or no column is wider than `MIN_COLUMN_WIDTH`. The first column usually has the ID, so it is narrowed only if
 * narrowing the other columns is not enough.
 */
export function computeColumnWidths(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  maxWidth = Number.POSITIVE_INFINITY,
): ColumnWidths {
  const lines = [columns, ...rows.map((cells) => cells.map(replaceControlCharacters))];
  const widths = columns.map((_, i) =>
    lines.reduce((widest, cells) => Math.max(widest, measureWidth(cells[i] ?? '')), 0),
  );
  const gaps = COLUMN_SEPARATOR.length * (columns.length - 1);
  let excess = widths.reduce((sum, width) => sum + width, gaps) - maxWidth;
  for (; excess > 0; excess--) {
    const widestIndex = widths.indexOf(Math.max(...widths.slice(1)), 1);
    const narrowedIndex = (widths[widestIndex] ?? 0) > MIN_COLUMN_WIDTH ? widestIndex : 0;
    if ((widths[narrowedIndex] as number) <= MIN_COLUMN_WIDTH) break;
    (widths[narrowedIndex] as number)--;
  }
  return widths;
}

/**
 * Returns a line of a table. If `shouldTruncate` is set, a cell that is wider than its column is shortened, and ends with `…`. Otherwise,
 * such a cell shifts the cells after it.
 */
export function formatTableRow(cells: readonly string[], widths: ColumnWidths, shouldTruncate: boolean): string {
  return cells
    .map((cell, i) => {
      const width = widths[i] as number;
      const text = shouldTruncate ? truncate(replaceControlCharacters(cell), width) : replaceControlCharacters(cell);
      return text + ' '.repeat(Math.max(0, width - measureWidth(text)));
    })
    .join(COLUMN_SEPARATOR)
    .trimEnd();
}

/** Returns a text that is at most `width` wide. Shortens a wider text, and ends it with `…`. */
function truncate(text: string, width: number): string {
  if (measureWidth(text) <= width) return text;
  let start = '';
  let remaining = width - ELLIPSIS.length;
  for (const { segment } of graphemeSegmenter.segment(text)) {
    remaining -= measureGraphemeWidth(segment);
    if (remaining < 0) break;
    start += segment;
  }
  return start + ELLIPSIS;
}

const graphemeSegmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const ASCII = /^[\x20-\x7e]*$/;
const NO_WIDTH = /^[\p{M}\p{Cf}]$/u;
/** East Asian wide characters and emoji. Some characters are emoji by default, others with U+FE0F after them. */
const WIDE =
  /\ufe0f|[\u1100-\u115f\u2e80-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;

/** Returns the width of a text in a terminal. This is an estimate, because terminals differ. */
function measureWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemeSegmenter.segment(text)) width += measureGraphemeWidth(segment);
  return width;
}

function measureGraphemeWidth(grapheme: string): number {
  if (WIDE.test(grapheme)) return 2;
  return [...grapheme].filter((character) => !NO_WIDTH.test(character)).length;
}
