import { tooMuchNow } from './errors.ts';
import { FairQueue, type Rejection } from './fair-queue.ts';
import type { Exchange, Observer } from './replies.ts';

/** Requests in flight that are allowed whatever the throughput: as many as there are connections to the database. */
const MIN_IN_FLIGHT = 50;
/** The same of scans, each of which may keep a core of the database busy: of all workspaces, and of one. */
const MIN_SCANS_IN_FLIGHT = 16;
const MIN_SCANS_OF_WORKSPACE = 8;

/** Health probes that are answered at once in each iteration of the event loop. */
const MAX_PROBES_AT_ONCE = 20;

/** While requests wait, an iteration of the event loop begins some for this time. */
const BEGIN_MS = 10;
/**
 * An iteration rejects some for this time; and for longer if more requests have arrived than have begun since the last one, but
 * fewer than those: clients that ask again at once would otherwise be rejected more and more often.
 */
const REJECT_MS = 0.6;
const MAX_REJECT_MS = 4;
const REJECTED_SHARE = 0.97;
/** How long requests wait for connections that are being opened: libuv 1.45 and later accept one in an iteration. */
const ACCEPT_MS = 10;
/** How long before it was accepted a connection may have been opened. */
const MAX_ACCEPT_LAG_MS = 2_000;
/** If no request may begin, the next ones are rejected after this time, so that the rest of the service goes on. */
const REJECT_INTERVAL_MS = 2;
const CHECK_INTERVAL_MS = 100;

const MAX_CREDENTIALS = 10_000;
/** The end of a credential tells keys apart, and is not a secret. */
const CREDENTIAL_END = 10;

/** A request that reads much of a collection: a search, a page far behind, or one whose parameters are not plain. */
const SCAN = /[?&](?:search=[^&]|page=\d{3}|[^=&]*%[^=&]*=)/;

const REJECTION = tooMuchNow('There are more requests than can be served: try again in a second.');

/** A request that waits. */
export interface Waiting {
  readonly exchange: Exchange;
  /** Begins the request. Returns whether it did: it need not if its client has gone. */
  begin(): boolean;
  reject(error: Error): void;
}

interface InFlight {
  readonly queue: FairQueue<Waiting>;
  readonly key: string;
}

/**
 * Admission control (docs/adr/0016-overload.md): decides which requests are served, and in which order. Every request waits here,
 * not unread in its connection, so that their number is known. The time for rejections is bounded, so that the admitted
 * requests are served however many others come.
 */
export class Admission implements Observer {
  private readonly requests = new FairQueue<Waiting>(MIN_IN_FLIGHT, MIN_IN_FLIGHT);
  private readonly scans = new FairQueue<Waiting>(MIN_SCANS_IN_FLIGHT, MIN_SCANS_OF_WORKSPACE);
  private readonly inFlight = new Map<Exchange, InFlight>();
  private readonly rejections: Waiting[] = [];
  /** The workspace of each credential that was authenticated lately. */
  private readonly workspaces = new Map<string, string>();
  private isScanNext = false;
  private isScheduled = false;
  private timer: NodeJS.Timeout | undefined;
  private beginUntil = 0;
  private begunAt = 0;
  private hasAccepted = false;
  private probes = 0;
  /** The requests that have arrived, and those that have begun, since the last iteration. */
  private arrived = 0;
  private begun = 0;
  /** When the requests that are being read arrived: before they were read, and before their connections were accepted. */
  private arrivedAt: number | undefined;

  constructor(private readonly onRejected: (reason: Rejection) => void) {}

  /** Begins a request when its turn has come, or rejects it. */
  add(url: string, authorization: string | undefined, waiting: Waiting): void {
    const credential = authorization?.slice(-CREDENTIAL_END) ?? '';
    const queue = SCAN.test(url) ? this.scans : this.requests;
    const { startedAt } = waiting.exchange;
    this.arrivedAt ??= startedAt;
    if (startedAt - this.arrivedAt > MAX_ACCEPT_LAG_MS) this.arrivedAt = startedAt;
    this.arrived++;
    const reason = queue.add(this.workspaces.get(credential) ?? credential, waiting, this.arrivedAt);
    if (reason) this.reject(waiting, reason);
    this.schedule();
    this.timer ??= setTimeout(this.check, CHECK_INTERVAL_MS).unref();
  }

  /** Begins a health probe at once, or in its turn if there are many. It is never rejected. */
  addProbe(waiting: Waiting): void {
    if (this.probes === 0) setImmediate(() => (this.probes = 0));
    if (++this.probes <= MAX_PROBES_AT_ONCE) waiting.begin();
    else this.add('', undefined, { ...waiting, reject: waiting.begin });
  }

  /** Notes that a connection was opened: there may be more. */
  accepted(): void {
    this.hasAccepted = true;
  }

  /** Waits for a client, which may be slow: meanwhile its request does not count as in flight. */
  async whileWaitingFor<T>(exchange: Exchange, client: Promise<T>, isAnswered: () => boolean): Promise<T> {
    const place = this.end(exchange);
    const value = await client;
    if (place && !isAnswered()) {
      place.queue.begin(place.key);
      this.inFlight.set(exchange, place);
    }
    return value;
  }

  replied(exchange: Exchange): void {
    const key = this.end(exchange, performance.now())?.key;
    const { workspaceId } = exchange;
    if (key !== undefined && workspaceId !== undefined && workspaceId !== key) this.learn(key, workspaceId);
  }

  private learn(credential: string, workspaceId: string): void {
    this.workspaces.set(credential, workspaceId);
    const oldest = this.workspaces.keys().next().value as string;
    if (this.workspaces.size > MAX_CREDENTIALS) this.workspaces.delete(oldest);
  }

  private end(exchange: Exchange, now?: number): InFlight | undefined {
    const place = this.inFlight.get(exchange);
    if (!place) return undefined;
    this.inFlight.delete(exchange);
    place.queue.end(place.key, now);
    if (!this.isEmpty) this.schedule();
    return place;
  }

  private reject(waiting: Waiting, reason: Rejection): void {
    this.rejections.push(waiting);
    this.onRejected(reason);
  }

  private readonly check = (): void => {
    const now = performance.now();
    const late = [...this.requests.takeLate(now), ...this.scans.takeLate(now)];
    for (const waiting of late) this.reject(waiting, 'timeout');
    for (const queue of [this.requests, this.scans]) queue.forgetIdle();
    this.timer = this.isEmpty ? undefined : setTimeout(this.check, CHECK_INTERVAL_MS).unref();
    if (this.rejections.length > 0) this.schedule();
  };

  private get isEmpty(): boolean {
    return this.requests.length + this.scans.length === 0;
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(this.turn);
  }

  private readonly turn = (): void => {
    const start = performance.now();
    this.rejectSome(start);
    const isAccepting = this.hasAccepted && start - this.begunAt < ACCEPT_MS;
    if (!this.hasAccepted) this.arrivedAt = undefined;
    this.hasAccepted = false;
    if (isAccepting) {
      setImmediate(this.turn);
      return;
    }
    this.beginUntil = performance.now() + BEGIN_MS;
    this.beginNext();
  };

  private rejectSome(start: number): void {
    let least = REJECTED_SHARE * (this.arrived - this.begun);
    this.arrived = 0;
    this.begun = 0;
    for (let now = start; this.rejections.length > 0; now = performance.now()) {
      if (now > start + (least-- > 0 ? MAX_REJECT_MS : REJECT_MS)) break;
      this.rejections.pop()?.reject(REJECTION);
    }
  }

  private readonly beginNext = (): void => {
    const now = performance.now();
    this.begunAt = now;
    if (now > this.beginUntil) setImmediate(this.turn);
    else if (this.beginOne(now)) {
      if (this.isEmpty && this.rejections.length === 0) this.rest();
      // When the one just begun has done all that it can do without waiting.
      else queueMicrotask(() => process.nextTick(this.beginNext));
    } else if (this.rejections.length > 0) setTimeout(this.turn, REJECT_INTERVAL_MS);
    else this.rest();
  };

  private rest(): void {
    this.isScheduled = false;
    this.arrivedAt = undefined;
  }

  /** Begins one request, alternately a scan and another one. Returns whether it did. */
  private beginOne(now: number): boolean {
    const { requests, scans } = this;
    if (this.isScanNext) return this.beginOneOf(scans, now) || this.beginOneOf(requests, now);
    return this.beginOneOf(requests, now) || this.beginOneOf(scans, now);
  }

  private beginOneOf(queue: FairQueue<Waiting>, now: number): boolean {
    const next = queue.next(now);
    if (!next) return false;
    const { request, key } = next;
    this.isScanNext = queue === this.requests;
    this.begun++;
    this.inFlight.set(request.exchange, { queue, key });
    if (!request.begin()) this.end(request.exchange);
    return true;
  }
}
