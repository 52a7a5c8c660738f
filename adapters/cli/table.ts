const GAP = '  ';

/** Aligned columns under their headings. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const lines = [columns, ...rows.map((cells) => cells.map(harmless))];
  const widths = columns.map((_, i) => lines.reduce((widest, cells) => Math.max(widest, widthOf(cells[i] ?? '')), 0));
  return lines.map((cells) =>
    cells
      .map((cell, i) => cell + ' '.repeat((widths[i] ?? 0) - widthOf(cell)))
      .join(GAP)
      .trimEnd(),
  );
}

const CONTROL = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** A text that cannot move the cursor, ring, or turn the direction of a terminal. */
export function harmless(text: string): string {
  return text.replace(CONTROL, '\ufffd');
}

const NO_WIDTH = /^[\p{M}\p{Cf}]$/u;
const WIDE =
  /^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]$/u;

/** The cells of a terminal that a text takes, as nearly as can be told without knowing the terminal. */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += NO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/** A number of things, as it is said: `1 member`, `2 members`. */
export function counted(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
