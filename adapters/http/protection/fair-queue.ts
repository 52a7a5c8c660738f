import { DEFAULT_REQUEST_LIMIT } from '../../api/default-limits.ts';
import type { RejectionReason } from '../responder.ts';
import { InFlightLimit } from './in-flight-limit.ts';

/**
 * If requests have been waiting for longer than this, the queue is a standing queue: more requests arrive than are served. Otherwise, it
 * is a burst.
 */
const BURST_MS = 500;
/** The longest estimated wait for which a new request is accepted if the queue of its workspace is a standing queue. */
const MAX_WAIT_MS = 500;
/** The number of waiting requests below which no new request is rejected, however slow the service is. */
const MIN_WAITING_COUNT = 16;
/** The longest time that a round should take. In a round, each waiting workspace begins one request. */
const MAX_ROUND_MS = 1_000;
/** The longest time that a request may wait, even if it was queued during a burst. It leaves 2 s of the request's timeout of 10 s. */
const MAX_BURST_WAIT_MS = 8_000;
/** While at most this many requests wait, they may wait for up to `MAX_BURST_WAIT_MS`. A key may send this many at once by default. */
const MAX_BURST_COUNT = DEFAULT_REQUEST_LIMIT;

/** The requests of one workspace, or of one remote address if their workspace is not known. */
interface Lane<Request> {
  readonly key: string;
  readonly waiting: { readonly request: Request; readonly since: number }[];
  /** The time since which `waiting` has not been empty. */
  busySince: number;
  readonly inFlight: InFlightLimit;
}

/**
 * A queue that is fair to workspaces: in each round, every waiting workspace begins one request, unless it has too many in flight. So if n
 * earlier requests of its workspace wait, a request waits for these, and for at most n + 1 requests of each other workspace. The waiting time bounds the length
 * of the queue. The recent throughput and a target latency bound the number of requests in flight (docs/adr/0016-overload.md). Times
 * are milliseconds.
 */
export class FairQueue<Request> {
  /** The number of waiting requests. */
  length = 0;
  private readonly lanes = new Map<string, Lane<Request>>();
  /** The lanes with waiting requests. The first lane that may begin a request begins next. */
  private readonly round = new Set<Lane<Request>>();
  private readonly inFlight: InFlightLimit;
  /** The time since which requests have been waiting without interruption. */
  private busySince = 0;
  /** The time at which the last request was served. */
  private servedAt = 0;

  /**
   * Creates a queue. The limit of requests in flight never falls below `minInFlight`, and that of a workspace never below
   * `minWorkspaceInFlight`. If requests wait and none is served for `pauseMs`, the storage is treated as paused. Then the recent
   * throughput does not predict how long a request would wait.
   */
  constructor(
    minInFlight: number,
    private readonly minWorkspaceInFlight: number,
    private readonly pauseMs: number,
  ) {
    this.inFlight = new InFlightLimit(minInFlight);
  }

  /** Adds a request, or returns the reason for which it should be rejected. */
  add(key: string, request: Request, now: number): RejectionReason | undefined {
    const lane = this.getOrCreateLane(key);
    if (this.round.size === 0) this.busySince = now;
    if (lane.waiting.length === 0) lane.busySince = now;
    const reason = this.findRejectionReason(lane, now);
    if (reason) return reason;
    lane.waiting.push({ request, since: now });
    this.length++;
    this.round.add(lane);
    return undefined;
  }

  /** Removes and returns the request that begins next, if one may begin. */
  next(now: number): { readonly request: Request; readonly key: string } | undefined {
    if (this.length === 0 || this.inFlight.isFull(now)) return undefined;
    for (const lane of this.round) {
      if (lane.inFlight.isFull(now)) continue;
      const request = this.uncount(lane.waiting.shift());
      this.round.delete(lane);
      if (lane.waiting.length > 0) this.round.add(lane);
      this.begin(lane.key);
      return { request, key: lane.key };
    }
    return undefined;
  }

  /** Counts a request as in flight, without queueing. */
  begin(key: string): void {
    this.getOrCreateLane(key).inFlight.begin();
    this.inFlight.begin();
  }

  /** Stops counting a request as in flight. Counts it as served if `now` is given. */
  end(key: string, now?: number): void {
    const lane = this.getOrCreateLane(key);
    lane.inFlight.end(now);
    this.inFlight.end(now);
    if (now === undefined) return;
    if (this.isPaused(now)) this.restartBurst(now);
    this.servedAt = now;
  }

  /** Removes the workspaces without requests. Call it from time to time. */
  removeIdle(): void {
    for (const { key, waiting, inFlight } of this.lanes.values()) {
      if (waiting.length === 0 && inFlight.count === 0) this.lanes.delete(key);
    }
  }

  /**
   * Removes and returns the requests that have waited longer than `MAX_BURST_WAIT_MS`. In a standing queue, also removes the newest
   * requests of a lane until its estimated wait is within a limit. The limit is `MAX_BURST_WAIT_MS`. It is `MAX_ROUND_MS` if more than
   * `MAX_BURST_COUNT` requests wait, and the lane has more than its equal part of this number.
   */
  takeLate(now: number): Request[] {
    const late: Request[] = [];
    const isStanding = !this.isPaused(now) && now - this.busySince > BURST_MS && this.length > MIN_WAITING_COUNT;
    // The requests of the last lanes would begin last, so these lanes are shortened first.
    for (const lane of [...this.round].reverse()) {
      const { waiting } = lane;
      const getWaitMs = () => (isStanding ? this.estimateWaitMs(waiting.length, now) : 0);
      const isLong = () => this.length > MAX_BURST_COUNT && waiting.length > MAX_BURST_COUNT / this.round.size;
      while (now - (waiting[0]?.since ?? now) > MAX_BURST_WAIT_MS) late.push(this.uncount(waiting.shift()));
      while (getWaitMs() > MAX_BURST_WAIT_MS || (isLong() && getWaitMs() > MAX_ROUND_MS))
        late.push(this.uncount(waiting.pop()));
      if (waiting.length === 0) this.round.delete(lane);
    }
    return late;
  }

  /** Returns the request of an entry that was removed from its lane. */
  private uncount(entry: Lane<Request>['waiting'][number] | undefined): Request {
    this.length--;
    return entry?.request as Request;
  }

  private getOrCreateLane(key: string): Lane<Request> {
    let lane = this.lanes.get(key);
    if (!lane) {
      lane = { key, waiting: [], busySince: 0, inFlight: new InFlightLimit(this.minWorkspaceInFlight) };
      this.lanes.set(key, lane);
    }
    return lane;
  }

  /** Returns the reason for which a new request of a workspace should be rejected, if there is one. */
  private findRejectionReason(lane: Lane<Request>, now: number): RejectionReason | undefined {
    if (this.length < MIN_WAITING_COUNT) return undefined;
    if (this.isPaused(now) && this.length < MAX_BURST_COUNT) return undefined;
    if (now - this.busySince > BURST_MS && this.estimateWaitMs(1, now) > MAX_ROUND_MS) return 'service';
    if (now - lane.busySince <= BURST_MS) return undefined;
    return this.estimateWaitMs(lane.waiting.length + 1, now) > MAX_WAIT_MS ? 'workspace' : undefined;
  }

  /**
   * Returns whether requests have waited for `pauseMs` and none was served, as in a failover of the database. Meaningful only while
   * requests wait.
   */
  private isPaused(now: number): boolean {
    return now - Math.max(this.servedAt, this.busySince) > this.pauseMs;
  }

  /** Treats the waiting requests as a burst: they wait because of a pause, not because there are too many. */
  private restartBurst(now: number): void {
    this.busySince = now;
    for (const lane of this.round) lane.busySince = now;
  }

  /** Estimates how long a workspace takes to begin this number of requests, from the recent throughput. */
  private estimateWaitMs(requestCount: number, now: number): number {
    return (requestCount * this.round.size) / this.inFlight.getThroughputPerMs(now);
  }
}
