import { LRUCache } from 'lru-cache';
import { MAX_CONNECTION_COUNT } from '../../persistence/connection-limit.ts';
import { createTransientError } from '../errors.ts';
import type { Observer, RejectionReason } from '../observer.ts';
import type { RequestContext } from '../request-context.ts';

/** The maximum number of scans in flight. It is low, because each scan can occupy a core of the database. */
const MAX_SCAN_COUNT = 8;
/**
 * The delay in the queue that shows an overload: more requests arrive than are served, so new ones are rejected at
 * once. If n times as many arrive as can be served, no request waits for more than n times this delay. So clients with
 * a timeout of 2 s are served.
 */
const OVERLOAD_DELAY_MS = 500;
/**
 * The maximum time that a request of a burst waits in the queue. It leaves half of the deadline of a request (10 s) for
 * serving it.
 */
const MAX_WAIT_MS = 5_000;
/** The interval at which requests that have waited for too long are rejected. */
const CHECK_INTERVAL_MS = 250;
/**
 * The time for which requests begin before the event loop reads new ones, and for which connections are accepted before
 * requests begin. Writes that begin together are committed together. libuv accepts only one connection in an iteration
 * of the event loop.
 */
const TIME_SLICE_MS = 10;
/** The maximum time that a time slice spends on rejections, so that they leave most of the time for other requests. */
const MAX_REJECT_MS = 2;
/** The maximum number of credentials whose workspace is cached. An entry takes about 200 bytes. */
const MAX_CREDENTIAL_COUNT = 10_000;
/** How many characters at the end of a credential identify it in the cache. So the cache contains no usable API key. */
const CREDENTIAL_END_LENGTH = 10;

const OVERLOAD_ERROR = createTransientError(
  'rate_limit_exceeded',
  'The service is overloaded. Retry the request in one second.',
  'overload',
);

/**
 * The kinds of requests that wait separately. A scan can read much of a collection. A health probe is never rejected.
 */
export type RequestKind = 'request' | 'scan' | 'probe';

/** A waiting request. */
export interface QueuedRequest {
  readonly kind: RequestKind;
  readonly context: RequestContext;
  /** The `Authorization` header. */
  readonly authorization?: string | undefined;
  /** The remote address of the connection. */
  readonly address?: string | undefined;
  /**
   * Begins the request, and returns `true`. Returns `false` if it already has a response, or its client has closed the
   * connection.
   */
  begin(): boolean;
  reject(error: Error): void;
}

/** The waiting requests of one workspace, in the order of their arrival. */
interface Lane {
  readonly key: string;
  readonly waiting: QueuedRequest[];
  /** When the workspace began to wait for its next turn. */
  turnSince: number;
}

/**
 * Serves workspaces in turn, one request each, so that a busy workspace delays only itself. Limits the requests in
 * flight.
 */
class FairQueue {
  inFlightCount = 0;
  /** When the last request was served. */
  servedAt = 0;
  /** The workspaces with waiting requests, in the order of their turns. */
  private readonly lanes = new Map<string, Lane>();

  constructor(private readonly maxInFlightCount: number) {}

  get isEmpty(): boolean {
    return this.lanes.size === 0;
  }

  get canBegin(): boolean {
    return !this.isEmpty && this.inFlightCount < this.maxInFlightCount;
  }

  /** Whether the storage seems to pause, as in a failover. Then requests wait although there are not too many. */
  isPaused(now: number): boolean {
    return now - this.servedAt > OVERLOAD_DELAY_MS;
  }

  /** Returns the reason for which a new request of a workspace should be rejected, if there is one. */
  findRejectionReason(key: string, now: number): RejectionReason | undefined {
    if (this.isPaused(now)) return undefined;
    const oldest = this.lanes.get(key)?.waiting[0];
    if (oldest) return now - oldest.context.startedAt > OVERLOAD_DELAY_MS ? 'workspace' : undefined;
    const [next] = this.lanes.values();
    return next && now - next.turnSince > OVERLOAD_DELAY_MS ? 'service' : undefined;
  }

  add(key: string, request: QueuedRequest): void {
    const lane = this.lanes.get(key);
    if (lane) lane.waiting.push(request);
    else this.lanes.set(key, { key, waiting: [request], turnSince: request.context.startedAt });
  }

  /** Removes and returns the request whose turn it is, and counts it as in flight. */
  begin(now: number): QueuedRequest | undefined {
    const [lane] = this.lanes.values();
    if (!lane || !this.canBegin) return undefined;
    this.inFlightCount++;
    this.lanes.delete(lane.key);
    const request = lane.waiting.shift();
    if (lane.waiting.length > 0) this.lanes.set(lane.key, Object.assign(lane, { turnSince: now }));
    return request;
  }

  /** Removes and returns the requests that have waited for too long. */
  takeLate(now: number): QueuedRequest[] {
    const late: QueuedRequest[] = [];
    if (this.isPaused(now)) return late;
    for (const { key, waiting } of this.lanes.values()) {
      const firstInTime = waiting.findIndex(({ context }) => now - context.startedAt <= MAX_WAIT_MS);
      late.push(...waiting.splice(0, firstInTime < 0 ? waiting.length : firstInTime));
      if (waiting.length === 0) this.lanes.delete(key);
    }
    return late;
  }
}

interface InFlightRequest {
  readonly queue: FairQueue;
  readonly credential: string;
}

/**
 * Admission control and load shedding (docs/adr/0016-http.md): decides which requests are served, and in which
 * order. Requests are read before they wait. If they waited unread in their connections, the time that they wait would
 * not be known.
 */
export class Admission {
  private readonly queues: Readonly<Record<RequestKind, FairQueue>> = {
    request: new FairQueue(MAX_CONNECTION_COUNT),
    scan: new FairQueue(MAX_SCAN_COUNT),
    probe: new FairQueue(Number.POSITIVE_INFINITY),
  };
  /** The queues in the order of their turns. */
  private readonly turns = Object.values(this.queues);
  private readonly inFlight = new Map<RequestContext, InFlightRequest>();
  /** The requests that are to be rejected. */
  private readonly rejections: QueuedRequest[] = [];
  /** The workspaces of the credentials that were authenticated recently. */
  private readonly workspaces = new LRUCache<string, string>({ max: MAX_CREDENTIAL_COUNT });
  private isScheduled = false;
  private timer: NodeJS.Timeout | undefined;
  /** The end of the current time slice. */
  private endsAt = 0;
  /** When this iteration of the event loop began to read requests: the arrival time of all of them. */
  private arrivedAt: number | undefined;
  /** Whether a connection was accepted since the last time slice. Then more connections may wait. */
  private hasAccepted = false;

  /** Creates the admission control. `observers` observe rejections. */
  constructor(private readonly observers: readonly Observer[]) {}

  /**
   * Queues a request, which later begins or is rejected. All unknown credentials of an address are treated as one
   * workspace.
   */
  add(request: QueuedRequest): void {
    const { kind, context, address = '' } = request;
    const key = this.workspaces.get(getCredential(request)) ?? address;
    const queue = this.queues[kind];
    if (this.arrivedAt === undefined) {
      this.arrivedAt = context.startedAt;
      setImmediate(() => (this.arrivedAt = undefined));
    }
    const reason = kind === 'probe' ? undefined : queue.findRejectionReason(key, this.arrivedAt);
    if (reason) this.reject(request, reason);
    else queue.add(key, request);
    this.schedule();
    this.timer ??= setTimeout(this.rejectLate, CHECK_INTERVAL_MS).unref();
  }

  onConnection(): void {
    this.hasAccepted = true;
  }

  /**
   * Settles like `slowWork`, such as reading a request body. Until then, the request does not count as in flight. When
   * `slowWork` resolves, the request counts again unless `hasResponse` returns `true`.
   */
  async awaitOutsideInFlightCount<T>(
    context: RequestContext,
    slowWork: Promise<T>,
    hasResponse: () => boolean,
  ): Promise<T> {
    const entry = this.end(context);
    const value = await slowWork;
    if (entry && !hasResponse()) {
      entry.queue.inFlightCount++;
      this.inFlight.set(context, entry);
    }
    return value;
  }

  /** Stops counting a request that has its response as in flight, and caches the workspace of its credential. */
  onResponse(context: RequestContext, status: number): void {
    const entry = this.end(context);
    // An error of the storage does not end its pause.
    if (entry && status < 500) entry.queue.servedAt = performance.now();
    if (entry && context.workspaceId !== undefined) this.workspaces.set(entry.credential, context.workspaceId);
  }

  private end(context: RequestContext): InFlightRequest | undefined {
    const entry = this.inFlight.get(context);
    if (!entry) return undefined;
    this.inFlight.delete(context);
    entry.queue.inFlightCount--;
    this.schedule();
    return entry;
  }

  private reject(request: QueuedRequest, reason: RejectionReason): void {
    this.rejections.push(request);
    for (const observer of this.observers) observer.onRejected?.(reason);
  }

  private readonly rejectLate = (): void => {
    const { request, scan } = this.queues;
    for (const queue of [request, scan]) {
      for (const late of queue.takeLate(performance.now())) this.reject(late, 'timeout');
    }
    this.timer = request.isEmpty && scan.isEmpty ? undefined : setTimeout(this.rejectLate, CHECK_INTERVAL_MS).unref();
    this.schedule();
  };

  private get hasWork(): boolean {
    return this.rejections.length > 0 || this.turns.some(({ canBegin }) => canBegin);
  }

  private schedule(): void {
    if (this.isScheduled || !this.hasWork) return;
    this.isScheduled = true;
    setImmediate(this.runTimeSlice);
  }

  /** Rejects some requests. Then begins queued requests, unless connections are still being accepted. */
  private readonly runTimeSlice = (): void => {
    const now = performance.now();
    // The newest requests are rejected first, so that most rejections are fast.
    while (this.rejections.length > 0 && performance.now() - now < MAX_REJECT_MS)
      this.rejections.pop()?.reject(OVERLOAD_ERROR);
    const isAccepting = this.hasAccepted && now - this.endsAt < TIME_SLICE_MS;
    this.hasAccepted = false;
    if (isAccepting) {
      setImmediate(this.runTimeSlice);
      return;
    }
    this.endsAt = performance.now() + TIME_SLICE_MS;
    this.beginNext();
  };

  private readonly beginNext = (): void => {
    const now = performance.now();
    // Continues after the request that just began has done everything that it can do without waiting.
    if (now < this.endsAt && this.beginOne(now)) queueMicrotask(() => process.nextTick(this.beginNext));
    else {
      this.endsAt = now;
      this.isScheduled = false;
      this.schedule();
    }
  };

  /** Begins one request of the next queue that has one. Returns `false` if no request may begin. */
  private beginOne(now: number): boolean {
    const queue = this.turns.find(({ canBegin }) => canBegin);
    const request = queue?.begin(now);
    if (!queue || !request) return false;
    this.turns.push(...this.turns.splice(this.turns.indexOf(queue), 1));
    this.inFlight.set(request.context, { queue, credential: getCredential(request) });
    if (!request.begin()) this.end(request.context);
    return true;
  }
}

function getCredential({ authorization = '' }: QueuedRequest): string {
  return authorization.slice(-CREDENTIAL_END_LENGTH);
}
