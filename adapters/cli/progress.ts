import type { TerminalStream } from './terminal-stream.ts';

const REDRAW_INTERVAL_MS = 100;
const LINE_INTERVAL_MS = 5_000;
const BAR_WIDTH = 20;
const CLEAR_LINE = '\r\x1b[K';

/**
 * The progress of a long command: on a terminal, a line that is redrawn, otherwise a new line every `LINE_INTERVAL_MS`.
 */
export class ProgressLine {
  private readonly startedAt: number;
  private shownAt: number;
  private isLineVisible = false;

  constructor(
    private readonly stream: TerminalStream,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.startedAt = now();
    this.shownAt = stream.isTTY ? Number.NEGATIVE_INFINITY : this.startedAt;
  }

  /**
   * Shows the number of processed units, such as records, and their rate. If the processed `fraction` (0 to 1) is
   * known, also shows it, on a terminal as a bar. Does nothing if the last display is too recent.
   */
  show(doneCount: number, unit: string, fraction?: number): void {
    const now = this.now();
    if (now - this.shownAt < (this.stream.isTTY ? REDRAW_INTERVAL_MS : LINE_INTERVAL_MS)) return;
    this.shownAt = now;
    const seconds = (now - this.startedAt) / 1000;
    const rate = seconds > 0 ? Math.round(doneCount / seconds) : 0;
    const percent = fraction === undefined ? '' : `${Math.floor(Math.min(1, fraction) * 100)} %  `;
    const text = `${percent}${doneCount} ${unit}, ${rate} a second`;
    if (!this.stream.isTTY) return void this.stream.write(`${text}\n`);
    const filledWidth = Math.round(Math.min(1, fraction ?? 0) * BAR_WIDTH);
    const bar = percent && `${'█'.repeat(filledWidth)}${'░'.repeat(BAR_WIDTH - filledWidth)} `;
    this.stream.write(CLEAR_LINE + `${bar}${text}`.slice(0, (this.stream.columns ?? 80) - 1));
    this.isLineVisible = true;
  }

  /** Shows the number of processed records of a total. */
  showRecords(count: number, total: number): void {
    this.show(count, 'records', count / total);
  }

  /** Removes the line from a terminal, so that other text can be written. */
  clear(): void {
    if (!this.isLineVisible) return;
    this.stream.write(CLEAR_LINE);
    this.isLineVisible = false;
  }
}
