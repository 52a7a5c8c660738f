import { createOverloadError } from '../errors.ts';
import type { Observer, RejectionReason, RequestContext } from '../responder.ts';
import { FairQueue } from './fair-queue.ts';

/** This number of requests in flight is always allowed. It equals the number of connections to MongoDB. */
const MIN_IN_FLIGHT_COUNT = 50;
/**
 * The number of scans (see `SCAN_URL`) in flight that is always allowed. It is lower than that of other requests, because each scan
 * can occupy a core of the database.
 */
const MIN_SCAN_IN_FLIGHT_COUNT = 16;
/** The number of scans in flight that is always allowed for one workspace. */
const MIN_WORKSPACE_SCAN_IN_FLIGHT_COUNT = 8;

/**
 * If requests wait and none is served for this time, the storage is treated as paused (see `FairQueue`). The time is longer than
 * a request usually takes.
 */
const PAUSE_MS = 250;
/** As `PAUSE_MS`, but for the queue of scans. It is longer than a scan usually takes. */
const SCAN_PAUSE_MS = 2_000;

/** The maximum number of health probes that begin without queueing in an iteration of the event loop. */
const MAX_PROBE_COUNT = 20;

/** The maximum time that an iteration of the event loop spends on beginning queued requests. */
const BEGIN_BUDGET_MS = 10;
/** The time that an iteration spends on rejecting requests, unless it may spend `MAX_REJECT_BUDGET_MS`. */
const REJECT_BUDGET_MS = 0.6;
/**
 * The maximum time that an iteration spends on rejecting requests while it has rejected less than `REJECTED_RATIO` of the excess.
 * The excess is the number of requests that arrived since the last iteration, minus the number of requests that began. With a
 * shorter time, clients that retry at once would be rejected more and more often.
 */
const MAX_REJECT_BUDGET_MS = 4;
const REJECTED_RATIO = 0.97;
/**
 * The maximum time for which queued requests wait while new connections are accepted. Without this wait, accepting many connections
 * would take long, because libuv 1.45 and later accept only one connection per iteration of the event loop.
 */
const MAX_ACCEPT_WAIT_MS = 10;
/** The maximum time that a connection is assumed to have waited until it was accepted. */
const MAX_ACCEPT_LAG_MS = 2_000;
/** The interval between iterations that only reject, because no request may begin. It leaves time for the rest of the service. */
const REJECT_INTERVAL_MS = 2;
/** The interval at which late requests are looked for. */
const CHECK_INTERVAL_MS = 100;

/** The maximum number of credentials whose workspace is cached. */
const MAX_CREDENTIAL_COUNT = 10_000;
/** How many characters at the end of a credential identify it in the cache. So the cache contains no usable API key. */
const CREDENTIAL_END_LENGTH = 10;

/**
 * Matches the URL of a scan, which may read much of a collection: a search or a page from 100 on. Also matches a percent-encoded
 * parameter name, because it could be `search` or `page`.
 */
const SCAN_URL = /[?&](?:search=[^&]|page=\d{3}|[^=&]*%[^=&]*=)/;

const OVERLOAD_ERROR = createOverloadError('The service is overloaded: try again in one second.');

/** A waiting request. */
export interface QueuedRequest {
  readonly context: RequestContext;
  /** The `Authorization` header. */
  readonly authorization?: string | undefined;
  /** Begins the request, and returns `true`. Returns `false` if it already has a response, or its client has closed the connection. */
  begin(): boolean;
  reject(error: Error): void;
}

interface InFlightRequest {
  readonly queue: FairQueue<QueuedRequest>;
  /** The ID of the workspace, or the remote address if the workspace was not known when the request was queued. */
  readonly key: string;
  readonly credential: string;
}

/**
 * Admission control (docs/adr/0016-overload.md): decides which requests are served, and in which order. Requests are read and
 * wait here. If they waited unread in their connections, their number would not be known. The time for rejections is bounded, so
 * that admitted requests are served under any load.
 */
export class Admission {
  private readonly requests = new FairQueue<QueuedRequest>(MIN_IN_FLIGHT_COUNT, MIN_IN_FLIGHT_COUNT, PAUSE_MS);
  private readonly scans = new FairQueue<QueuedRequest>(
    MIN_SCAN_IN_FLIGHT_COUNT,
    MIN_WORKSPACE_SCAN_IN_FLIGHT_COUNT,
    SCAN_PAUSE_MS,
  );
  private readonly inFlight = new Map<RequestContext, InFlightRequest>();
  /** The requests that are to be rejected. */
  private readonly rejections: QueuedRequest[] = [];
  /** The workspaces of the credentials that were authenticated recently. */
  private readonly workspaces = new Map<string, string>();
  /** Whether the next request should be a scan, if a scan waits. */
  private isScanNext = false;
  /** Whether `runIteration` or `beginNext` will be called. */
  private isScheduled = false;
  private timer: NodeJS.Timeout | undefined;
  /** The time at which the current iteration stops beginning requests. */
  private beginUntil = 0;
  /** The time of the last call of `beginNext`. */
  private begunAt = 0;
  /** Whether a connection was accepted since the last iteration. */
  private hasAccepted = false;
  private probeCount = 0;
  /** The numbers of requests that arrived and that began since the last iteration. */
  private arrivedCount = 0;
  private begunCount = 0;
  /**
   * The time at which the first of the requests that are being read was read. It estimates the arrival of all of them: the others
   * probably arrived then, too, but their connections waited to be accepted.
   */
  private arrivedAt: number | undefined;

  /** Creates the admission control. `observers` observe rejections. */
  constructor(private readonly observers: readonly Observer[]) {}

  /**
   * Queues a request, which later begins or is rejected. A request whose workspace is not known yet is queued under `address`, the
   * remote address of its connection. So all unknown credentials from one address are treated as one workspace.
   */
  add(url: string, waiting: QueuedRequest, address = ''): void {
    const queue = SCAN_URL.test(url) ? this.scans : this.requests;
    const { startedAt } = waiting.context;
    this.arrivedAt ??= startedAt;
    if (startedAt - this.arrivedAt > MAX_ACCEPT_LAG_MS) this.arrivedAt = startedAt;
    this.arrivedCount++;
    const key = this.workspaces.get(getCredential(waiting)) ?? address;
    const reason = queue.add(key, waiting, this.arrivedAt);
    if (reason) this.reject(waiting, reason);
    this.schedule();
    this.timer ??= setTimeout(this.check, CHECK_INTERVAL_MS).unref();
  }

  /** Begins a health probe at once, or queues it if there are many. It is never rejected. */
  addProbe(waiting: QueuedRequest): void {
    if (this.probeCount === 0) setImmediate(() => (this.probeCount = 0));
    if (++this.probeCount <= MAX_PROBE_COUNT) waiting.begin();
    else this.add('', { ...waiting, reject: waiting.begin });
  }

  /** Notes that a connection was accepted. More connections may be waiting to be accepted. */
  onConnection(): void {
    this.hasAccepted = true;
  }

  /**
   * Settles like `slowWork`, such as reading a request body. Until then, the request does not count as in flight. When `slowWork`
   * resolves, the request counts again unless `hasResponse` returns `true`.
   */
  async awaitOutsideInFlightCount<T>(
    context: RequestContext,
    slowWork: Promise<T>,
    hasResponse: () => boolean,
  ): Promise<T> {
    const entry = this.end(context);
    const value = await slowWork;
    if (entry && !hasResponse()) {
      entry.queue.begin(entry.key);
      this.inFlight.set(context, entry);
    }
    return value;
  }

  /** Stops counting a request that has its response as in flight, and caches the workspace of its credential. */
  onResponse(context: RequestContext): void {
    const entry = this.end(context, performance.now());
    const { workspaceId } = context;
    if (entry && workspaceId !== undefined && workspaceId !== entry.key) {
      this.cacheWorkspace(entry.credential, workspaceId);
    }
  }

  private cacheWorkspace(credential: string, workspaceId: string): void {
    this.workspaces.set(credential, workspaceId);
    const oldest = this.workspaces.keys().next().value as string;
    if (this.workspaces.size > MAX_CREDENTIAL_COUNT) this.workspaces.delete(oldest);
  }

  /** Stops counting a request as in flight. Counts it as served if `now` is given. */
  private end(context: RequestContext, now?: number): InFlightRequest | undefined {
    const entry = this.inFlight.get(context);
    if (!entry) return undefined;
    this.inFlight.delete(context);
    entry.queue.end(entry.key, now);
    if (!this.isEmpty) this.schedule();
    return entry;
  }

  private reject(waiting: QueuedRequest, reason: RejectionReason): void {
    this.rejections.push(waiting);
    for (const observer of this.observers) observer.onRejected?.(reason);
  }

  /** Rejects late requests (see `FairQueue.takeLate`), and removes the workspaces without requests from the queues. */
  private readonly check = (): void => {
    const now = performance.now();
    const late = [...this.requests.takeLate(now), ...this.scans.takeLate(now)];
    for (const waiting of late) this.reject(waiting, 'timeout');
    for (const queue of [this.requests, this.scans]) queue.removeIdle();
    this.timer = this.isEmpty ? undefined : setTimeout(this.check, CHECK_INTERVAL_MS).unref();
    if (this.rejections.length > 0) this.schedule();
  };

  private get isEmpty(): boolean {
    return this.requests.length + this.scans.length === 0;
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(this.runIteration);
  }

  /** Rejects some requests. Then begins queued requests, unless connections are still being accepted. */
  private readonly runIteration = (): void => {
    const start = performance.now();
    this.rejectSome(start);
    const isAccepting = this.hasAccepted && start - this.begunAt < MAX_ACCEPT_WAIT_MS;
    if (!this.hasAccepted) this.arrivedAt = undefined;
    this.hasAccepted = false;
    if (isAccepting) {
      setImmediate(this.runIteration);
      return;
    }
    this.beginUntil = performance.now() + BEGIN_BUDGET_MS;
    this.beginNext();
  };

  private rejectSome(start: number): void {
    let excess = REJECTED_RATIO * (this.arrivedCount - this.begunCount);
    this.arrivedCount = 0;
    this.begunCount = 0;
    for (let now = start; this.rejections.length > 0; now = performance.now()) {
      if (now > start + (excess-- > 0 ? MAX_REJECT_BUDGET_MS : REJECT_BUDGET_MS)) break;
      this.rejections.pop()?.reject(OVERLOAD_ERROR);
    }
  }

  private readonly beginNext = (): void => {
    const now = performance.now();
    this.begunAt = now;
    if (now > this.beginUntil) setImmediate(this.runIteration);
    else if (this.beginOne(now)) {
      if (this.isEmpty && this.rejections.length === 0) this.stopSchedule();
      // Continues after the request that just began has done everything that it can do without waiting.
      else queueMicrotask(() => process.nextTick(this.beginNext));
    } else if (this.rejections.length > 0) setTimeout(this.runIteration, REJECT_INTERVAL_MS);
    else this.stopSchedule();
  };

  private stopSchedule(): void {
    this.isScheduled = false;
    this.arrivedAt = undefined;
  }

  /** Begins one request, alternating between scans and other requests. Returns `false` if no request may begin. */
  private beginOne(now: number): boolean {
    const { requests, scans } = this;
    if (this.isScanNext) return this.beginOneOf(scans, now) || this.beginOneOf(requests, now);
    return this.beginOneOf(requests, now) || this.beginOneOf(scans, now);
  }

  private beginOneOf(queue: FairQueue<QueuedRequest>, now: number): boolean {
    const next = queue.next(now);
    if (!next) return false;
    const { request, key } = next;
    this.isScanNext = queue === this.requests;
    this.begunCount++;
    this.inFlight.set(request.context, { queue, key, credential: getCredential(request) });
    if (!request.begin()) this.end(request.context);
    return true;
  }
}

function getCredential({ authorization = '' }: QueuedRequest): string {
  return authorization.slice(-CREDENTIAL_END_LENGTH);
}
