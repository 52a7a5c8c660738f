import { createOverloadError } from './errors.ts';
import { FairQueue, type RejectionReason } from './fair-queue.ts';
import type { Observer, RequestContext } from './responder.ts';

/** The number of requests in flight that is always allowed: the number of connections to the database. */
const MIN_IN_FLIGHT_COUNT = 50;
/** The number of scans in flight that is always allowed. It is lower, because each scan can occupy a core of the database. */
const MIN_SCAN_IN_FLIGHT_COUNT = 16;
/** The number of scans in flight that is always allowed for one workspace. */
const MIN_WORKSPACE_SCAN_IN_FLIGHT_COUNT = 8;

/** If no request is served for this time, the storage is paused (see `FairQueue`). It is longer than a request takes. */
const PAUSE_MS = 250;
/** This time for the queue of scans. It is longer than a scan takes. */
const SCAN_PAUSE_MS = 2_000;

/** The number of health probes that begin at once in an iteration of the event loop. */
const MAX_PROBE_COUNT = 20;

/** The time for which an iteration of the event loop begins waiting requests. */
const BEGIN_BUDGET_MS = 10;
/** The time for which an iteration rejects requests. */
const REJECT_BUDGET_MS = 0.6;
/**
 * The time for which an iteration rejects requests until it has rejected `REJECTED_SHARE` of the excess: the requests that
 * arrived since the last iteration, minus those that began. With less, clients that retry at once would be rejected more and
 * more often.
 */
const MAX_REJECT_BUDGET_MS = 4;
const REJECTED_SHARE = 0.97;
/** The longest time that requests wait for connections that are being opened: libuv 1.45 and later accept one per iteration. */
const MAX_ACCEPT_WAIT_MS = 10;
/** The maximum time that a connection is assumed to have waited until it was accepted. */
const MAX_ACCEPT_LAG_MS = 2_000;
/** The interval between rejections if no request may begin, so that they do not block the rest of the service. */
const REJECT_INTERVAL_MS = 2;
const CHECK_INTERVAL_MS = 100;

const MAX_CREDENTIAL_COUNT = 10_000;
/** The length of the end of a credential. It identifies a key, and is too short to be a secret. */
const CREDENTIAL_END_LENGTH = 10;

/** Matches the URL of a scan, which may read much of a collection: a search, a page from 100 on, or encoded names of parameters. */
const SCAN_URL = /[?&](?:search=[^&]|page=\d{3}|[^=&]*%[^=&]*=)/;

const OVERLOAD_ERROR = createOverloadError('The service is overloaded: try again in one second.');

/** A waiting request. */
export interface QueuedRequest {
  readonly context: RequestContext;
  /** The `Authorization` header. */
  readonly authorization?: string | undefined;
  /** Begins the request, and returns `true`. Returns `false` if its client has closed the connection. */
  begin(): boolean;
  reject(error: Error): void;
}

interface InFlightRequest {
  readonly queue: FairQueue<QueuedRequest>;
  readonly key: string;
  readonly credential: string;
}

/**
 * Admission control (docs/adr/0016-overload.md): decides which requests are served, and in which order. Every request waits here,
 * and not unread in its connection, so that the number of waiting requests is known. The time for rejections is bounded, so
 * that admitted requests are served under any load.
 */
export class Admission implements Observer {
  private readonly requests = new FairQueue<QueuedRequest>(MIN_IN_FLIGHT_COUNT, MIN_IN_FLIGHT_COUNT, PAUSE_MS);
  private readonly scans = new FairQueue<QueuedRequest>(
    MIN_SCAN_IN_FLIGHT_COUNT,
    MIN_WORKSPACE_SCAN_IN_FLIGHT_COUNT,
    SCAN_PAUSE_MS,
  );
  private readonly inFlight = new Map<RequestContext, InFlightRequest>();
  private readonly rejections: QueuedRequest[] = [];
  /** The workspaces of the credentials that were authenticated recently. */
  private readonly workspaces = new Map<string, string>();
  /** Whether the next request should be a scan, if one waits. */
  private isScanNext = false;
  private isScheduled = false;
  private timer: NodeJS.Timeout | undefined;
  private beginUntil = 0;
  private begunAt = 0;
  private hasAccepted = false;
  private probeCount = 0;
  /** The number of requests that arrived, and of those that began, since the last iteration. */
  private arrivedCount = 0;
  private begunCount = 0;
  /**
   * The estimated arrival time of the requests that are being read: when the first of them was read. The others probably arrived
   * then, too, but their connections waited to be accepted.
   */
  private arrivedAt: number | undefined;

  constructor(private readonly noteRejection: (reason: RejectionReason) => void) {}

  /**
   * Queues a request, which later begins or is rejected. Requests whose workspace is not known yet count for their address:
   * many unknown credentials take no more than their share.
   */
  add(url: string, waiting: QueuedRequest, address = ''): void {
    const queue = SCAN_URL.test(url) ? this.scans : this.requests;
    const { startedAt } = waiting.context;
    this.arrivedAt ??= startedAt;
    if (startedAt - this.arrivedAt > MAX_ACCEPT_LAG_MS) this.arrivedAt = startedAt;
    this.arrivedCount++;
    const key = this.workspaces.get(credentialOf(waiting)) ?? address;
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

  /** To be called when a connection is accepted. Others may follow. */
  onConnection(): void {
    this.hasAccepted = true;
  }

  /**
   * Waits for a client, which may be slow, and does not count its request as in flight meanwhile. Afterwards, the request
   * counts again unless `hasResponse` returns `true`.
   */
  async excludeFromInFlight<T>(context: RequestContext, client: Promise<T>, hasResponse: () => boolean): Promise<T> {
    const entry = this.end(context);
    const value = await client;
    if (entry && !hasResponse()) {
      entry.queue.begin(entry.key);
      this.inFlight.set(context, entry);
    }
    return value;
  }

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
    this.noteRejection(reason);
  }

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
    let excess = REJECTED_SHARE * (this.arrivedCount - this.begunCount);
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
      // Continues when the request that just began has done everything that it can do without waiting.
      else queueMicrotask(() => process.nextTick(this.beginNext));
    } else if (this.rejections.length > 0) setTimeout(this.runIteration, REJECT_INTERVAL_MS);
    else this.stopSchedule();
  };

  private stopSchedule(): void {
    this.isScheduled = false;
    this.arrivedAt = undefined;
  }

  /** Begins one request, alternating between scans and others. Returns `false` if none may begin. */
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
    this.inFlight.set(request.context, { queue, key, credential: credentialOf(request) });
    if (!request.begin()) this.end(request.context);
    return true;
  }
}

function credentialOf({ authorization = '' }: QueuedRequest): string {
  return authorization.slice(-CREDENTIAL_END_LENGTH);
}
