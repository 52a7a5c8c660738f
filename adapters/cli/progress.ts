import type { TerminalStream } from './terminal-stream.ts';

const REDRAW_INTERVAL_MS = 100;
const LINE_INTERVAL_MS = 5_000;
const BAR_WIDTH = 20;
const CLEAR_LINE = '\r\x1b[K';

/** The progress of a long command: on a terminal, a line that is redrawn, otherwise a new line every `LINE_INTERVAL_MS`. */
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
   * Shows the number of processed units, such as records, and their rate. If the processed `fraction` (0 to 1) is known, also shows the
   * remaining time and, on a terminal, a bar. Does nothing if the last display is too recent.
   */
  show(doneCount: number, unit: string, fraction?: number): void {
    const doneFraction = fraction && Math.min(1, fraction);
    const now = this.now();
    if (now - this.shownAt < (this.stream.isTTY ? REDRAW_INTERVAL_MS : LINE_INTERVAL_MS)) return;
    this.shownAt = now;
    const seconds = (now - this.startedAt) / 1000;
    const rate = seconds > 0 ? Math.round(doneCount / seconds) : 0;
    const remaining = doneFraction ? `, ${formatDuration((seconds / doneFraction) * (1 - doneFraction))} left` : '';
    const text = `${doneCount} ${unit}, ${rate} a second${remaining}`;
    if (!this.stream.isTTY) {
      this.stream.write(`${text}\n`);
      return;
    }
    const bar = doneFraction === undefined ? '' : formatBar(doneFraction);
    this.stream.write(CLEAR_LINE + `${bar}${text}`.slice(0, (this.stream.columns ?? 80) - 1));
    this.isLineVisible = true;
  }

  /** Removes the line from a terminal, so that other text can be written. */
  clear(): void {
    if (!this.isLineVisible) return;
    this.stream.write(CLEAR_LINE);
    this.isLineVisible = false;
  }
}

function formatBar(fraction: number): string {
  const filledWidth = Math.round(fraction * BAR_WIDTH);
  return `${'█'.repeat(filledWidth)}${'░'.repeat(BAR_WIDTH - filledWidth)} ${Math.floor(fraction * 100)} %  `;
}

function formatDuration(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
