import type { Writable } from 'node:stream';

/** What a terminal's stream can tell besides. */
export type Terminal = Writable & { readonly isTTY?: boolean; readonly columns?: number; hasColors?(): boolean };

const REDRAW_MS = 100;
const LINE_EVERY_MS = 5_000;
const BAR = 20;
const CLEAR_LINE = '\r\x1b[K';

/** How far a long command has come: a bar on a terminal, elsewhere a line now and then. */
export class ProgressLine {
  private readonly startedAt: number;
  private shownAt: number;
  private drawn = false;

  constructor(
    private readonly stream: Terminal,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.startedAt = now();
    this.shownAt = stream.isTTY ? Number.NEGATIVE_INFINITY : this.startedAt;
  }

  /** Shows that so many are done, and which part of all that is, where it is known. */
  show(done: number, what: string, ofAll?: number): void {
    const part = ofAll && Math.min(1, ofAll);
    const now = this.now();
    if (now - this.shownAt < (this.stream.isTTY ? REDRAW_MS : LINE_EVERY_MS)) return;
    this.shownAt = now;
    const seconds = (now - this.startedAt) / 1000;
    const rate = seconds > 0 ? Math.round(done / seconds) : 0;
    const left = part ? `, ${duration((seconds / part) * (1 - part))} left` : '';
    const text = `${done} ${what}, ${rate} a second${left}`;
    if (!this.stream.isTTY) {
      this.stream.write(`${text}\n`);
      return;
    }
    const full = Math.round((part ?? 0) * BAR);
    const bar = part === undefined ? '' : `${'█'.repeat(full)}${'░'.repeat(BAR - full)} ${Math.floor(part * 100)} %  `;
    this.stream.write(CLEAR_LINE + `${bar}${text}`.slice(0, (this.stream.columns ?? 80) - 1));
    this.drawn = true;
  }

  /** Takes the bar away, so that something else can be written. */
  clear(): void {
    if (!this.drawn) return;
    this.stream.write(CLEAR_LINE);
    this.drawn = false;
  }
}

function duration(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
