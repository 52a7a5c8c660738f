import { setTimeout as delay } from 'node:timers/promises';
import { type MongoClient, MongoServerError } from 'mongodb';
import { doNothing } from '../../core/shared/do-nothing.ts';
import { removeFinalPeriod } from '../../core/shared/text.ts';
import { STORAGE_TIMEOUT_MS } from '../../core/storage.ts';
import { OutageLog } from '../logging/outage-log.ts';
import { COMMAND_TIMEOUT, createClient, toUnsupportedDatabase } from './client.ts';
import { DatabaseClock } from './clock.ts';
import { findProblem, ServerDiagnosis } from './diagnosis.ts';
import { DatabaseUnavailable, isShardUnavailable, isTransient, isWaitTimeout, UnsupportedDatabase } from './errors.ts';
import { createMissingIndexes, lookUpRandomId } from './indexes.ts';

const STARTUP_TIMEOUT_MS = 2_000;
const MAX_ATTEMPT_COUNT = 5;
const MIN_BACKOFF_MS = 50;
const PROBE_INTERVAL_MS = 500;
/**
 * Limits of a probe of a sharded cluster. The probe starts with one read from a random shard. After each interval without a response, it
 * starts one more read, again from a random shard.
 */
const MAX_PROBE_READ_COUNT = 20;
const PROBE_READ_INTERVAL_MS = 100;
const PROBE_READ_TIMEOUT_MS = 500;

const UNAVAILABLE = 'MongoDB is unavailable';
const UNSUPPORTED = 'MongoDB cannot be used';
const ADVICE = 'Check that it runs and that MONGODB_URI is correct. Retrying.';
const SHARD_ADVICE = 'Check the servers of this shard. Retrying.';

/**
 * A connection that opens as soon as the database is available, and recovers after outages. `log` gets lines about outages and their
 * end, and about indexes that may be missing. A sharded cluster is available while at least one shard is available
 * (docs/adr/0008-mongodb.md).
 */
export class MongoConnection {
  readonly clock = new DatabaseClock();
  /** Whether the servers are mongos. If so, a part of the data may be unavailable while the rest is available. */
  isSharded = false;
  /** The number of retries after transient errors. */
  retries = 0;
  /** The number of connections to the servers that are in use. */
  connectionsInUse = 0;
  /** The number of commands that wait for a connection because all are in use. */
  waitingCommandCount = 0;
  private readonly diagnosis = new ServerDiagnosis();
  private readonly connected: Promise<MongoClient>;
  private client: MongoClient | undefined;
  private isStartupOver = false;
  private isProbing = false;
  private isClosed = false;
  private lastSuccessAt = performance.now();
  private failingSince: number | undefined = this.lastSuccessAt;
  private readonly outageLog: OutageLog;

  constructor(
    private readonly uri: string,
    private readonly log: (line: string) => void,
  ) {
    this.outageLog = new OutageLog(log);
    this.connected = this.open();
    // Each caller of `run` gets this error. If nobody calls `run`, the error must not become an unhandled promise rejection.
    this.connected.catch(doNothing);
  }

  /** Whether the database was available when it was last used. */
  get isUp(): boolean {
    return this.failingSince === undefined;
  }

  /**
   * Resolves when the connection is open, or after `STARTUP_TIMEOUT_MS`. Rejects with `UnsupportedDatabase` if the connection finds
   * in this time that the database cannot be used. After this time, the connection only logs such a problem, and retries.
   */
  async waitForStartup(): Promise<void> {
    try {
      await withDeadline(performance.now() + STARTUP_TIMEOUT_MS, this.connected);
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
    } finally {
      this.isStartupOver = true;
    }
  }

  /** Rejects while the database is unavailable: with the reason if it is known, otherwise with `DatabaseUnavailable`. */
  async checkReady(): Promise<void> {
    if (!this.isUp) throw this.diagnosis.problem ?? new DatabaseUnavailable(UNAVAILABLE);
    await this.run((client) => this.probeOnce(client), 1);
  }

  /**
   * Runs `work`, and retries it after transient errors: at most five attempts in ten seconds. If the database has already been
   * failing for ten seconds, rejects without an attempt. `work` may run again although an earlier attempt took effect, because
   * the response to that attempt may have been lost. A retry starts only after the previous attempt has ended.
   */
  async run<T>(work: (client: MongoClient) => Promise<T>, maxAttemptCount = MAX_ATTEMPT_COUNT): Promise<T> {
    const deadline = performance.now() + STORAGE_TIMEOUT_MS;
    for (let attempt = 1; ; attempt++) {
      const startedAt = performance.now();
      if (this.hasGivenUp() || startedAt >= deadline) throw new DatabaseUnavailable(UNAVAILABLE);
      try {
        const result = await withDeadline(deadline, this.connected.then(work));
        this.recordSuccess();
        return result;
      } catch (error) {
        if (this.isClosed || !this.canRetry(error)) throw error;
        this.recordFailure(error as Error, startedAt);
        if (attempt >= maxAttemptCount || error instanceof DatabaseUnavailable)
          throw new DatabaseUnavailable(UNAVAILABLE, { cause: error });
        await delay(MIN_BACKOFF_MS * 2 ** attempt * Math.random());
        this.retries++;
      }
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.client?.close();
  }

  /**
   * Connects, and retries until an attempt succeeds or the connection is closed. Before `waitForStartup` has ended, rejects if a retry
   * cannot help. Each attempt creates a new client, because a client whose `connect` failed may stay closed.
   */
  private async open(): Promise<MongoClient> {
    while (!this.isClosed) {
      const startedAt = performance.now();
      this.client = this.observe(createClient(this.uri));
      try {
        await Promise.race([this.diagnosis.watch(this.client), this.client.connect()]);
        await requireTransactions(this.client);
        await this.prepare(this.client);
        this.recordSuccess();
        return this.client;
      } catch (error) {
        await this.client.close();
        if (this.isClosed) break;
        if (!this.isStartupOver && !isTransient(error)) throw toUnsupportedDatabase(error as Error, this.uri);
        this.recordFailure(error as Error, startedAt);
        await delay(PROBE_INTERVAL_MS);
      }
    }
    throw new DatabaseUnavailable(UNAVAILABLE);
  }

  /** Prepares the database. An unavailable shard is prepared later, so that the other shards are served immediately. */
  private async prepare(client: MongoClient): Promise<void> {
    const tryToPrepare = () =>
      createMissingIndexes(client.db()).then(
        () => true,
        (error) => {
          if (!this.isSharded || !this.canRetry(error)) throw error;
          return false;
        },
      );
    if (await tryToPrepare()) return;
    await this.probeOnce(client);
    const prepareLater = async () => {
      do await delay(PROBE_INTERVAL_MS);
      while (!this.isClosed && !(await tryToPrepare()));
    };
    prepareLater().catch((error) => {
      if (this.isClosed) return;
      const problem = `Indexes may be missing, because a shard of MongoDB could not be prepared: ${error.message}`;
      this.log(`${removeFinalPeriod(problem)}. Fix the problem and restart the service.`);
    });
  }

  /** Returns whether a retry may succeed. A mongos that cannot reach a shard can report the same error as for a slow command. */
  private canRetry(error: unknown): boolean {
    return isTransient(error) || (this.isSharded && isShardUnavailable(error));
  }

  /** Starts to count the connections of a client, and to record whether its servers are mongos. Returns the client. */
  private observe(client: MongoClient): MongoClient {
    this.connectionsInUse = 0;
    this.waitingCommandCount = 0;
    this.clock.startReading(client);
    client.on('topologyDescriptionChanged', ({ newDescription: { servers } }) => {
      this.isSharded ||= [...servers.values()].some(({ type }) => type === 'Mongos' || type === 'LoadBalancer');
    });
    client.on('connectionCheckOutStarted', () => this.waitingCommandCount++);
    client.on('connectionCheckOutFailed', () => this.waitingCommandCount--);
    client.on('connectionCheckedOut', () => {
      this.waitingCommandCount--;
      this.connectionsInUse++;
    });
    client.on('connectionCheckedIn', () => this.connectionsInUse--);
    return client;
  }

  private hasGivenUp(): boolean {
    return this.failingSince !== undefined && performance.now() - this.failingSince >= STORAGE_TIMEOUT_MS;
  }

  private recordSuccess(): void {
    this.lastSuccessAt = performance.now();
    this.failingSince = undefined;
    this.outageLog.logEnd('MongoDB is available again.');
  }

  /**
   * Records a failure of the database. Errors of a busy database are not failures: all connections were in use, another
   * transaction had locked the record, or our own deadline ended the wait. Writes that wait for a lock or for the majority can
   * get such errors while reads still work. In a sharded cluster, one failure does not show whether the other shards fail, so
   * a probe finds out whether any shard responds.
   */
  private recordFailure(error: Error, startedAt: number): void {
    if (isWaitTimeout(error)) return;
    const isShardFailure = this.isSharded && error instanceof MongoServerError;
    this.logFailure(error, isShardFailure);
    if (!this.isSharded) this.failingSince ??= Math.max(startedAt, this.lastSuccessAt);
    void this.probeUntilAvailable(startedAt);
  }

  private logFailure(error: Error, isShardFailure: boolean): void {
    this.outageLog.logFailure(toLogLine(this.diagnosis.problem ?? error, isShardFailure), !isShardFailure);
  }

  private async probeUntilAvailable(startedAt: number): Promise<void> {
    if (this.isProbing) return;
    this.isProbing = true;
    do {
      await delay(PROBE_INTERVAL_MS);
      await this.connected
        .then((client) => this.probeOnce(client))
        .then(() => this.recordSuccess())
        .catch((error) => {
          if (!this.isSharded || this.isClosed) return;
          this.logFailure(error, false);
          this.failingSince ??= Math.max(startedAt, this.lastSuccessAt);
        });
    } while (this.failingSince !== undefined && !this.isClosed);
    this.isProbing = false;
  }

  /**
   * Resolves when the database responds. In a sharded cluster, a shard must respond: mongos responds even if all of its
   * shards are unavailable.
   */
  private async probeOnce(client: MongoClient): Promise<void> {
    if (!this.isSharded) return lookUpRandomId(client.db(), COMMAND_TIMEOUT.maxTimeMS);
    let hasResponded = false;
    const reads = Array.from({ length: MAX_PROBE_READ_COUNT }, async (_, i) => {
      await delay(i * PROBE_READ_INTERVAL_MS);
      if (!hasResponded) await lookUpRandomId(client.db(), PROBE_READ_TIMEOUT_MS);
      hasResponded = true;
    });
    await Promise.any(reads).catch(({ errors: [error] }: AggregateError) => {
      throw error;
    });
  }
}

async function requireTransactions(client: MongoClient): Promise<void> {
  const problem = findProblem(await client.db('admin').command({ hello: 1 }));
  if (problem) throw problem;
}

function toLogLine(error: Error, isShardFailure: boolean): string {
  if (error instanceof DatabaseUnavailable) return error.message;
  if (error instanceof UnsupportedDatabase) return `${UNSUPPORTED}: ${error.message}`;
  const reason = removeFinalPeriod(error.message);
  return isShardFailure
    ? `A shard of MongoDB is unavailable: ${reason}. ${SHARD_ADVICE}`
    : `${UNAVAILABLE}: ${reason}. ${ADVICE}`;
}

/** Waits for `work`, or rejects with `DatabaseUnavailable` at the deadline. The work then goes on, but its result is ignored. */
async function withDeadline<T>(deadline: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DatabaseUnavailable(UNAVAILABLE)), deadline - performance.now());
  });
  // If the work fails after the deadline, nobody awaits it any more.
  work.catch(doNothing);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
