/** After this time a queue that has not been empty is standing: more comes than is served. Until then it is a burst. */
const BURST_MS = 500;
/** The longest time that a request should wait in a standing queue. */
const MAX_WAIT_MS = 500;
/** So few requests are not rejected, however slow the service is. */
const MIN_WAITING = 16;
/** The longest time in which each workspace that waits should begin one request. */
const MAX_ROUND_MS = 1_000;
/** The longest time that a request of a burst may wait. Longer, and too little is left of the ten seconds of a request. */
const MAX_BURST_WAIT_MS = 8_000;
/** As many requests as a key may send at once may wait in a standing queue, for longer than `MAX_ROUND_MS`. */
const MAX_BURST = 600;

/** Why a request is rejected: its workspace sends too many, all workspaces together do, or it has waited too long. */
export type Rejection = 'workspace' | 'service' | 'timeout';

/** The requests of one workspace. */
interface Lane<Request> {
  readonly key: string;
  readonly waiting: { readonly request: Request; readonly since: number }[];
  /** Since when `waiting` has not been empty. */
  busySince: number;
  readonly inFlight: InFlight;
}

/**
 * A queue that is fair to workspaces: each that waits begins one request in a round, so that a request waits for others of
 * its own workspace, and only for one of each other workspace. The queue is bounded by time, and so are the requests in
 * flight: by the recent throughput and a target latency (docs/adr/0016-overload.md). Times are milliseconds.
 */
export class FairQueue<Request> {
  private readonly lanes = new Map<string, Lane<Request>>();
  /** The lanes in which requests wait: the first of them begins next. */
  private readonly round = new Set<Lane<Request>>();
  private readonly inFlight: InFlight;
  private busySince = 0;
  private size = 0;

  /** So many requests may always be in flight, of all workspaces and of one. */
  constructor(
    minInFlight: number,
    private readonly minOfWorkspace: number,
  ) {
    this.inFlight = new InFlight(minInFlight);
  }

  /** Adds a request, or returns why it should be rejected. */
  add(key: string, request: Request, now: number): Rejection | undefined {
    const lane = this.laneOf(key);
    if (this.round.size === 0) this.busySince = now;
    if (lane.waiting.length === 0) lane.busySince = now;
    const rejection = this.rejectionOf(lane, now);
    if (rejection) return rejection;
    lane.waiting.push({ request, since: now });
    this.size++;
    this.round.add(lane);
    return undefined;
  }

  /** Takes the request that begins next, if one waits and may begin. */
  next(now: number): { readonly request: Request; readonly key: string } | undefined {
    if (this.size === 0 || this.inFlight.isFull(now)) return undefined;
    for (const lane of this.round) {
      if (lane.inFlight.isFull(now)) continue;
      const request = this.take(lane.waiting.shift());
      this.round.delete(lane);
      if (lane.waiting.length > 0) this.round.add(lane);
      this.begin(lane.key);
      return { request, key: lane.key };
    }
    return undefined;
  }

  /** Counts a request as in flight, without a wait. */
  begin(key: string): void {
    this.laneOf(key).inFlight.count++;
    this.inFlight.count++;
  }

  /** Counts a request as in flight no more; as served, if `now` is given. */
  end(key: string, now?: number): void {
    const lane = this.laneOf(key);
    lane.inFlight.end(now);
    this.inFlight.end(now);
  }

  /** Forgets the workspaces of which nothing waits or is in flight. To be called now and then. */
  forgetIdle(): void {
    for (const { key, waiting, inFlight } of this.lanes.values()) {
      if (waiting.length === 0 && inFlight.count === 0) this.lanes.delete(key);
    }
  }

  /**
   * Removes the requests that have waited too long; of a queue that is standing, the newest of those that would, and of more
   * than `MAX_BURST` requests those of the longest lanes.
   */
  takeLate(now: number): Request[] {
    const late: Request[] = [];
    const isKnown = this.inFlight.perMs(now) > 0;
    const isStanding = isKnown && now - this.busySince > BURST_MS && this.size > MIN_WAITING;
    for (const lane of this.round) {
      const { waiting } = lane;
      const waitMs = () => (isStanding ? this.waitOf(waiting.length, now) : 0);
      const isLong = () => this.size > MAX_BURST && waiting.length > MAX_BURST / this.round.size;
      while (now - (waiting[0]?.since ?? now) > MAX_BURST_WAIT_MS) late.push(this.take(waiting.shift()));
      while (waitMs() > MAX_BURST_WAIT_MS || (isLong() && waitMs() > MAX_ROUND_MS)) late.push(this.take(waiting.pop()));
      if (waiting.length === 0) this.round.delete(lane);
    }
    return late;
  }

  /** How many requests wait. */
  get length(): number {
    return this.size;
  }

  private take(entry: Lane<Request>['waiting'][number] | undefined): Request {
    this.size--;
    return entry?.request as Request;
  }

  private laneOf(key: string): Lane<Request> {
    let lane = this.lanes.get(key);
    if (!lane) {
      lane = { key, waiting: [], busySince: 0, inFlight: new InFlight(this.minOfWorkspace) };
      this.lanes.set(key, lane);
    }
    return lane;
  }

  private rejectionOf({ waiting, busySince }: Lane<Request>, now: number): Rejection | undefined {
    if (this.size < MIN_WAITING) return undefined;
    if (now - this.busySince > BURST_MS && this.waitOf(1, now) > MAX_ROUND_MS) return 'service';
    if (now - busySince <= BURST_MS) return undefined;
    return this.waitOf(waiting.length + 1, now) > MAX_WAIT_MS ? 'workspace' : undefined;
  }

  /** The time in which a workspace begins so many requests, estimated by the recent throughput. */
  private waitOf(requests: number, now: number): number {
    return (requests * this.round.size) / this.inFlight.perMs(now);
  }
}

/** What is in flight should be done after this time. */
const TARGET_LATENCY_MS = 200;
const WINDOW_MS = 500;
const MIN_WINDOW_MS = 50;

/** The requests in flight, bounded by their recent throughput and a target latency (Little's law), but never below a minimum. */
class InFlight {
  count = 0;
  private startedAt = 0;
  private current = 0;
  private previous = 0;

  constructor(private readonly min: number) {}

  isFull(now: number): boolean {
    return this.count >= this.min && this.count >= this.perMs(now) * TARGET_LATENCY_MS;
  }

  /** Counts a request as in flight no more; as served, if `now` is given. */
  end(now: number | undefined): void {
    this.count--;
    if (now === undefined) return;
    this.roll(now);
    this.current++;
  }

  /** The requests served in a millisecond of the last half to whole second, or since the last pause. */
  perMs(now: number): number {
    this.roll(now);
    const elapsed = Math.max(MIN_WINDOW_MS, now - this.startedAt);
    return (this.previous + this.current) / (this.previous > 0 ? WINDOW_MS + elapsed : elapsed);
  }

  private roll(now: number): void {
    const elapsed = now - this.startedAt;
    if (elapsed < WINDOW_MS) return;
    const isNext = elapsed < 2 * WINDOW_MS;
    this.previous = isNext ? this.current : 0;
    this.current = 0;
    this.startedAt = isNext ? this.startedAt + WINDOW_MS : now;
  }
}
