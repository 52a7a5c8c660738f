const TURN_MS = 20;

interface Waiting {
  readonly since: number;
  giveUp(): void;
}

/**
 * Waits for something for a bounded time in which this process did turn: where its own event loop was busy, what has
 * been answered meanwhile is read first.
 */
export class EventLoopTimeout {
  private readonly waiting = new Set<Waiting>();
  private turns = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly mostTurns: number;

  constructor(milliseconds: number) {
    this.mostTurns = Math.ceil(milliseconds / TURN_MS);
  }

  /** Settles as the work does; rejects where that takes too long. */
  with<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const mine: Waiting = { since: this.turns, giveUp: () => reject(new Error('it does not answer')) };
      this.waiting.add(mine);
      this.timer ??= setInterval(() => this.turn(), TURN_MS);
      work.then(resolve, reject).finally(() => this.waiting.delete(mine));
    });
  }

  end(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    for (const { giveUp } of this.waiting) giveUp();
    this.waiting.clear();
  }

  private turn(): void {
    this.turns++;
    if (this.waiting.size === 0) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
    for (const mine of this.waiting) {
      if (this.turns - mine.since <= this.mostTurns) return;
      this.waiting.delete(mine);
      mine.giveUp();
    }
  }
}
