import { tooMuchNow } from './errors.ts';
import type { Exchange, Observer } from './replies.ts';

/** So many requests may be under way in any case, as in a burst; more, while none of them takes longer than this. */
const ALWAYS = 500;
const PATIENCE_MS = 500;

/** So many probes are answered as they come, in a turn of the event loop. */
const PROBES_AT_ONCE = 20;

/** What a turn of the event loop has time for while requests wait: to refuse those that are too many, and to begin others. */
const REFUSE_MS = 0.6;
const BEGIN_MS = 10;
/** For so long requests wait for connections that are being opened, of which a turn takes in one (libuv 1.45 and later). */
const ACCEPT_MS = 10;

/** The refusal of what is more than can be served. */
export const TOO_MUCH = tooMuchNow('There are more requests than can be served: try again in a second.');

interface Waiting {
  readonly begin: () => void;
  readonly refuse: () => void;
}

/**
 * Begins requests in the order of their coming, and refuses the newest where there are more than can be served
 * (docs/adr/0016-overload.md). They wait here, not unread in their connections, so that it is seen how many there are and
 * for how long. A refusal is given a small part of the time, so that what was let in is served however much else comes.
 */
export class Overload implements Observer {
  /** Since when a request has been ours to answer, in milliseconds as of `performance.now()`: the oldest first. */
  private readonly underWay = new Map<Exchange, number>();
  /** Those of them that are not begun. */
  private readonly waiting: Waiting[] = [];
  private beginUntil = 0;
  private begunAt = 0;
  private hasAccepted = false;
  /** How many came in this turn of the event loop. */
  private probes = 0;

  /** Has a request begun in its turn, or refused; it has been ours to answer since a time as of `performance.now()`. */
  add(exchange: Exchange, begin: () => void, refuse: () => void, since = performance.now()): void {
    this.underWay.set(exchange, since);
    this.waiting.push({ begin, refuse });
    if (this.waiting.length === 1) setImmediate(this.turn);
  }

  /** Has a probe begun at once, or in its turn where it is one of a flood; it is never refused. */
  addProbe(exchange: Exchange, begin: () => void): void {
    if (this.probes === 0) setImmediate(() => (this.probes = 0));
    if (++this.probes <= PROBES_AT_ONCE) begin();
    else this.add(exchange, begin, begin);
  }

  /** A connection was opened: there may be more. */
  accepted(): void {
    this.hasAccepted = true;
  }

  /**
   * Waits for a client, which may be as slow as it likes: meanwhile its request does not count, nor afterwards where it has
   * been answered by then.
   */
  async whileWaitingFor<T>(exchange: Exchange, client: Promise<T>, isAnswered: () => boolean): Promise<T> {
    this.underWay.delete(exchange);
    const value = await client;
    if (!isAnswered()) this.underWay.set(exchange, performance.now());
    return value;
  }

  /** A request is done when it is answered. */
  replied(exchange: Exchange): void {
    this.underWay.delete(exchange);
  }

  private readonly turn = (): void => {
    const start = performance.now();
    for (let now = start; now < start + REFUSE_MS && this.areTooMany(now); now = performance.now()) {
      this.waiting.pop()?.refuse();
    }
    const isAccepting = this.hasAccepted && start - this.begunAt < ACCEPT_MS;
    this.hasAccepted = false;
    if (isAccepting) {
      setImmediate(this.turn);
      return;
    }
    this.beginUntil = performance.now() + BEGIN_MS;
    this.beginNext();
  };

  private areTooMany(now: number): boolean {
    if (this.underWay.size <= ALWAYS || this.waiting.length === 0) return false;
    const [since = now] = this.underWay.values();
    return now - since > PATIENCE_MS;
  }

  private readonly beginNext = (): void => {
    this.waiting.shift()?.begin();
    const now = performance.now();
    this.begunAt = now;
    if (this.waiting.length === 0) return;
    if (now > this.beginUntil) setImmediate(this.turn);
    // When the one just begun has done all that it can do without waiting.
    else queueMicrotask(() => process.nextTick(this.beginNext));
  };
}
