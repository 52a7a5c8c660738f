import { setTimeout as delay } from 'node:timers/promises';
import type { MongoClient } from 'mongodb';
import { doNothing } from '../../core/shared/do-nothing.ts';
import { removeFinalPeriod } from '../../core/shared/text.ts';
import { OutageLog } from '../logging/outage-log.ts';
import { withTimeout } from '../node/with-timeout.ts';
import { STORAGE_TIMEOUT_MS } from '../persistence/storage-timeout.ts';
import { createClient, toUnsupportedDatabase } from './client.ts';
import { DatabaseClock } from './clock.ts';
import { findProblem, ServerDiagnosis } from './diagnosis.ts';
import { DatabaseUnavailable, isTransient, isWaitTimeout, UnsupportedDatabase } from './errors.ts';
import { createMissingIndexes, lookUpRandomId } from './indexes.ts';

const STARTUP_TIMEOUT_MS = 2_000;
const MAX_ATTEMPT_COUNT = 5;
const MIN_BACKOFF_MS = 50;
const PROBE_INTERVAL_MS = 500;

const UNAVAILABLE = 'MongoDB is unavailable';
const UNSUPPORTED = 'MongoDB cannot be used';
export const createUnavailableError = () => new DatabaseUnavailable(UNAVAILABLE);
const ADVICE = 'Check that it runs and that MONGODB_URI is correct. Retrying.';

/** Whether the database is available. The times are those of `performance.now()`. */
type State =
  | { readonly name: 'starting'; readonly since: number }
  | { readonly name: 'up'; readonly lastSuccessAt: number }
  | { readonly name: 'failing'; readonly since: number }
  | { readonly name: 'closed' };

/**
 * A connection that opens as soon as the database is available, and recovers after outages. `log` gets lines about
 * outages and their end.
 */
export class MongoConnection {
  readonly clock = new DatabaseClock();
  private readonly diagnosis = new ServerDiagnosis();
  private readonly outageLog: OutageLog;
  private readonly connected: Promise<MongoClient>;
  private client: MongoClient | undefined;
  private state: State = { name: 'starting', since: performance.now() };
  private isStartupOver = false;

  constructor(
    private readonly uri: string,
    log: (line: string) => void,
  ) {
    this.outageLog = new OutageLog(log);
    this.connected = this.open();
    // Each caller of `run` gets this error. If nobody calls `run`, the error must not become an unhandled promise
    // rejection.
    this.connected.catch(doNothing);
  }

  /** Whether the database was available when it was last used. */
  get isUp(): boolean {
    return this.state.name === 'up';
  }

  /**
   * Resolves when the connection is open, or after `STARTUP_TIMEOUT_MS`. Rejects with `UnsupportedDatabase` if the
   * connection finds in this time that the database cannot be used. Later, the connection only logs such a problem.
   */
  async waitForStartup(): Promise<void> {
    try {
      await withTimeout(this.connected, STARTUP_TIMEOUT_MS, createUnavailableError);
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
    } finally {
      this.isStartupOver = true;
    }
  }

  /**
   * Rejects while the database is unavailable: with the reason if it is known, otherwise with `DatabaseUnavailable`.
   */
  async checkReady(): Promise<void> {
    if (!this.isUp) throw this.diagnosis.problem ?? new DatabaseUnavailable(UNAVAILABLE);
    await this.run((client) => lookUpRandomId(client.db()), 1);
  }

  /**
   * Runs `work`, and retries it after transient errors: at most five attempts in ten seconds. If the database has
   * already been failing for ten seconds, rejects without an attempt. `work` may run again although an earlier attempt
   * took effect, because the response to that attempt may have been lost. A retry starts only after the previous
   * attempt has ended.
   */
  async run<T>(work: (client: MongoClient) => Promise<T>, maxAttemptCount = MAX_ATTEMPT_COUNT): Promise<T> {
    const deadline = performance.now() + STORAGE_TIMEOUT_MS;
    for (let attempt = 1; ; attempt++) {
      const startedAt = performance.now();
      if (this.hasGivenUp(startedAt) || startedAt >= deadline) throw new DatabaseUnavailable(UNAVAILABLE);
      try {
        const result = await withTimeout(this.connected.then(work), deadline - startedAt, createUnavailableError);
        this.recordSuccess();
        return result;
      } catch (error) {
        if (this.state.name === 'closed' || !isTransient(error)) throw error;
        this.recordFailure(error as Error, startedAt);
        if (attempt >= maxAttemptCount || error instanceof DatabaseUnavailable)
          throw new DatabaseUnavailable(UNAVAILABLE, { cause: error });
        await delay(MIN_BACKOFF_MS * 2 ** attempt * Math.random());
      }
    }
  }

  async close(): Promise<void> {
    this.state = { name: 'closed' };
    await this.client?.close();
  }

  /**
   * Connects, and retries until an attempt succeeds or the connection is closed. Before `waitForStartup` has ended,
   * rejects if a retry cannot help. Each attempt creates a client, because one whose `connect` failed may stay closed.
   */
  private async open(): Promise<MongoClient> {
    while (this.state.name !== 'closed') {
      const startedAt = performance.now();
      const client = createClient(this.uri);
      this.clock.startReading(client);
      this.client = client;
      try {
        await Promise.race([this.diagnosis.watch(client), client.connect()]);
        await requireTransactions(client);
        // The database is available. The time for creating indexes does not count as a failure.
        if (this.state.name === 'starting') this.state = { name: 'starting', since: performance.now() };
        await createMissingIndexes(client.db());
        this.recordSuccess();
        return client;
      } catch (error) {
        await client.close();
        if (this.isClosed()) break;
        if (!this.isStartupOver && !isTransient(error)) throw toUnsupportedDatabase(error as Error, this.uri);
        this.recordFailure(error as Error, startedAt);
        await delay(PROBE_INTERVAL_MS);
      }
    }
    throw new DatabaseUnavailable(UNAVAILABLE);
  }

  /** Works around TypeScript, which does not know that `close` can be called while `open` waits. */
  private isClosed(): boolean {
    return this.state.name === 'closed';
  }

  private hasGivenUp(now: number): boolean {
    return 'since' in this.state && now - this.state.since >= STORAGE_TIMEOUT_MS;
  }

  private recordSuccess(): void {
    if (this.isClosed()) return;
    this.state = { name: 'up', lastSuccessAt: performance.now() };
    this.outageLog.logEnd('MongoDB is available again.');
  }

  /**
   * Records a failure of the database. Errors of a busy database are not failures: all connections were in use, another
   * transaction had locked the record, or our own deadline ended the wait. Writes that wait for a lock or for the
   * majority can get such errors while reads still work.
   */
  private recordFailure(error: Error, startedAt: number): void {
    if (isWaitTimeout(error)) return;
    this.outageLog.logFailure(toLogLine(this.diagnosis.problem ?? error));
    if (this.state.name !== 'up') return;
    this.state = { name: 'failing', since: Math.max(startedAt, this.state.lastSuccessAt) };
    void this.probeWhile(this.state);
  }

  private async probeWhile(state: State): Promise<void> {
    while (this.state === state) {
      await delay(PROBE_INTERVAL_MS);
      const client = await this.connected;
      await lookUpRandomId(client.db()).then(() => this.recordSuccess(), doNothing);
    }
  }
}

async function requireTransactions(client: MongoClient): Promise<void> {
  const problem = findProblem(await client.db('admin').command({ hello: 1 }));
  if (problem) throw problem;
}

function toLogLine(error: Error): string {
  if (error instanceof DatabaseUnavailable) return error.message;
  if (error instanceof UnsupportedDatabase) return `${UNSUPPORTED}: ${error.message}`;
  return `${UNAVAILABLE}: ${removeFinalPeriod(error.message)}. ${ADVICE}`;
}
