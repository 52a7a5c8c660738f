import { type Db, type DbOptions, MongoClient, type MongoClientOptions, MongoError, MongoServerError } from 'mongodb';
import { DatabaseClock } from './clock.ts';
import { Diagnosis, type Problem, problemOf } from './diagnosis.ts';

/** What a client waits for at the most; what lasts longer is tried again or given up. Milliseconds. */
const OPTIONS: MongoClientOptions = {
  appName: 'workspace-advocacy',
  serverSelectionTimeoutMS: 5_000,
  connectTimeoutMS: 2_000,
  socketTimeoutMS: 5_000,
  heartbeatFrequencyMS: 2_000,
  waitQueueTimeoutMS: 1_000,
  maxPoolSize: 50,
  ignoreUndefined: true,
  // What we wrote is well-formed; looking at each character again costs more than reading it.
  enableUtf8Validation: false,
  retryReads: true,
  retryWrites: true,
  readPreference: 'primary',
  w: 'majority',
  journal: true,
};
/** How long the database may work on a command. */
export const COMMAND_TIMEOUT = { maxTimeMS: 2_000 };
/** The time limit of a list: less than the timeout of the socket. A search of 1,000,000 campaigns takes 2 to 3 s. */
export const MAX_LIST_MS = 4_500;
const FIRST_ATTEMPT_MS = 2_000;
const RETRY_DEADLINE_MS = 10_000;
const MAX_ATTEMPT_COUNT = 5;
const MIN_BACKOFF_MS = 50;
const PROBE_INTERVAL_MS = 500;
const LOG_INTERVAL_MS = 10_000;
/** A probe of a sharded cluster reads from a random shard, and from another one after each interval without a response. */
const MAX_SHARD_PROBE_COUNT = 20;
const SHARD_PROBE_INTERVAL_MS = 100;
const SHARD_PROBE_TIMEOUT_MS = 500;

const MESSAGE = 'MongoDB cannot be reached';
const UNUSABLE = 'MongoDB cannot be used';
const SHARD_MESSAGE = 'A shard of MongoDB cannot be reached';

/** A database that cannot be used as it is, however long one waits; the message says what to do. */
export class UnsupportedDatabase extends Error {
  override readonly name = 'UnusableDatabase';
}

/** The database is away; it may come back. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseAway';
}

/**
 * A write waited too long: for another transaction to end, such as that of a process that died, or for the acknowledgment
 * of the majority. It may be retried.
 */
export class LockTimeout extends Error {
  override readonly name = 'Blocked';
}

/** A search exceeded its time limit. A retry would take as long, so there is none. */
export class SearchTimeout extends Error {
  override readonly name = 'SearchTimeout';
}

/** The work that a connection does with the database on its own. */
interface Upkeep {
  /** Creates missing collections and indexes, when the database is available for the first time. */
  prepare(db: Db): Promise<void>;
  /** Reads a document. In a sharded cluster, it reads from one random shard. */
  probe(db: Db, maxTimeMS: number): Promise<void>;
}

/**
 * A connection that opens as soon as the database is available, and recovers after outages. `tell` gets a line when an outage
 * begins, and when it ends. A sharded cluster is available while any of its shards is (docs/adr/0008-mongodb.md).
 */
export class MongoConnection {
  /** The database's clock. */
  readonly clock = new DatabaseClock();
  private readonly diagnosis = new Diagnosis();
  private readonly opened: Promise<MongoClient>;
  private client: MongoClient | undefined;
  private isStarted = false;
  private isProbing = false;
  private isShardedCluster = false;
  private closed = false;
  private succeededAt = performance.now();
  private failingSince: number | undefined = this.succeededAt;
  private toldAt = Number.NEGATIVE_INFINITY;
  private isToldAway = false;
  private tried = 0;
  private inUse = 0;
  private waiting = 0;

  constructor(
    private readonly uri: string,
    private readonly upkeep: Upkeep,
    private readonly tell: (line: string) => void,
  ) {
    this.opened = this.open();
    this.opened.catch(() => 'whoever uses it is told');
  }

  /** Whether the last that is known of the database is that it answers. */
  get isUp(): boolean {
    return this.failingSince === undefined;
  }

  /** Whether the servers are mongos. If so, a part of the data may be unavailable while the rest is available. */
  get isSharded(): boolean {
    return this.isShardedCluster;
  }

  /** How often something was done again because the database had failed. */
  get retries(): number {
    return this.tried;
  }

  /** How many of the connections to the servers are in use. */
  get connectionsInUse(): number {
    return this.inUse;
  }

  /** How many wait for a connection, because all are in use. */
  get waitingForConnection(): number {
    return this.waiting;
  }

  /** Resolves when it is open or away; rejects with `UnusableDatabase`. What is unusable later is waited for. */
  async firstAttempt(): Promise<void> {
    try {
      await withDeadline(performance.now() + FIRST_ATTEMPT_MS, this.opened);
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
    } finally {
      this.isStarted = true;
    }
  }

  /** Rejects with `DatabaseAway` while the database is away. */
  async ready(): Promise<void> {
    if (!this.isUp) throw this.diagnosed() ?? new DatabaseUnavailable(MESSAGE);
    await this.run((client) => this.probeOnce(client), 1);
  }

  /**
   * Does `work`, and again where the database was away: five times in ten seconds at the most, and not at all where
   * nothing has succeeded for ten seconds. `work` may run again although it had its effect, but not while it still
   * runs.
   */
  async run<T>(work: (client: MongoClient) => Promise<T>, mostTries = MAX_ATTEMPT_COUNT): Promise<T> {
    const deadline = performance.now() + RETRY_DEADLINE_MS;
    for (let tries = 1; ; tries++) {
      const startedAt = performance.now();
      if (this.hasGivenUp() || startedAt >= deadline) throw new DatabaseUnavailable(MESSAGE);
      try {
        const result = await withDeadline(deadline, this.opened.then(work));
        this.noteSuccess();
        return result;
      } catch (error) {
        if (this.closed || !this.isTransient(error)) throw error;
        this.noteFailure(error as Error, startedAt);
        if (tries >= mostTries || error instanceof DatabaseUnavailable)
          throw new DatabaseUnavailable(MESSAGE, { cause: error });
        await delay(MIN_BACKOFF_MS * 2 ** tries * Math.random());
        this.tried++;
      }
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.client?.close();
  }

  /** A client whose first connect failed while others used it stays closed: each attempt has a client of its own. */
  private async open(): Promise<MongoClient> {
    while (!this.closed) {
      const startedAt = performance.now();
      this.client = this.counted(newClient(this.uri));
      const refusal = this.diagnosis.watch(this.client).then((problem) => Promise.reject(asError(problem)));
      try {
        await Promise.race([this.client.connect(), refusal]);
        await requireTransactions(this.client);
        await this.prepare(this.client);
        this.noteSuccess();
        return this.client;
      } catch (error) {
        await this.client.close();
        if (this.closed) break;
        if (!this.isStarted && !isTransient(error)) throw unusable(error as Error, this.uri);
        this.noteFailure(error as Error, startedAt);
        await delay(PROBE_INTERVAL_MS);
      }
    }
    throw new DatabaseUnavailable(MESSAGE);
  }

  /** Prepares the database. An unavailable shard is prepared later, so that the others are served at once. */
  private async prepare(client: MongoClient): Promise<void> {
    const isPrepared = () =>
      this.upkeep.prepare(client.db()).then(
        () => true,
        (error) => {
          if (!this.isSharded || !this.isTransient(error)) throw error;
          return false;
        },
      );
    if (await isPrepared()) return;
    await this.probeOnce(client);
    const prepareLater = async () => {
      do await delay(PROBE_INTERVAL_MS);
      while (!this.closed && !(await isPrepared()));
    };
    prepareLater().catch(
      (error) => this.closed || this.tell(`A shard of MongoDB cannot be prepared: ${error.message}`),
    );
  }

  /** Returns whether a retry may succeed. A mongos that cannot reach a shard reports the same error as for a slow command. */
  private isTransient(error: unknown): boolean {
    return isTransient(error) || (this.isSharded && isShardUnavailable(error));
  }

  /** Counts what a client does with its connections, and notes whether its servers are mongos. */
  private counted(client: MongoClient): MongoClient {
    this.inUse = 0;
    this.waiting = 0;
    this.clock.follow(client);
    client.on('topologyDescriptionChanged', ({ newDescription: { servers } }) => {
      this.isShardedCluster ||= [...servers.values()].some(({ type }) => type === 'Mongos' || type === 'LoadBalancer');
    });
    client.on('connectionCheckOutStarted', () => this.waiting++);
    client.on('connectionCheckOutFailed', () => this.waiting--);
    client.on('connectionCheckedOut', () => {
      this.waiting--;
      this.inUse++;
    });
    client.on('connectionCheckedIn', () => this.inUse--);
    return client;
  }

  private hasGivenUp(): boolean {
    return this.failingSince !== undefined && performance.now() - this.failingSince >= RETRY_DEADLINE_MS;
  }

  private noteSuccess(): void {
    this.succeededAt = performance.now();
    this.failingSince = undefined;
    if (this.isToldAway) this.tell('MongoDB is back');
    this.isToldAway = false;
  }

  /**
   * Records a failure of the database. A busy database has not failed: all connections are in use, another transaction has
   * locked the record, or our own deadline ended the wait. Writes that wait for a lock or for the majority end like that,
   * while reads still work. In a sharded cluster, one failure says nothing about the other shards, so the probe finds out
   * whether any of them answers.
   */
  private noteFailure(error: Error, startedAt: number): void {
    if (isBusy(error)) return;
    this.tellFailure(error, this.isSharded && error instanceof MongoServerError ? SHARD_MESSAGE : MESSAGE);
    if (!this.isSharded) this.failingSince ??= Math.max(startedAt, this.succeededAt);
    void this.probe(startedAt);
  }

  private tellFailure(error: Error, message: string): void {
    const now = performance.now();
    if (now - this.toldAt < LOG_INTERVAL_MS) return;
    this.toldAt = now;
    if (message === MESSAGE) this.isToldAway = true;
    this.tell(lineOf(this.diagnosed() ?? error, message));
  }

  /** Returns the reason why no server can be used, if it is known. */
  private diagnosed(): Error | undefined {
    const { problem } = this.diagnosis;
    return problem && asError(problem);
  }

  private async probe(startedAt: number): Promise<void> {
    if (this.isProbing) return;
    this.isProbing = true;
    do {
      await delay(PROBE_INTERVAL_MS);
      await this.opened
        .then((client) => this.probeOnce(client))
        .then(() => this.noteSuccess())
        .catch((error) => {
          if (!this.isSharded || this.closed) return;
          this.tellFailure(error, MESSAGE);
          this.failingSince ??= Math.max(startedAt, this.succeededAt);
        });
    } while (this.failingSince !== undefined && !this.closed);
    this.isProbing = false;
  }

  /** Resolves when the database answers. In a sharded cluster, that is when a shard answers, because mongos always does. */
  private async probeOnce(client: MongoClient): Promise<void> {
    if (!this.isSharded) return this.upkeep.probe(client.db(), COMMAND_TIMEOUT.maxTimeMS);
    let isReached = false;
    const probes = Array.from({ length: MAX_SHARD_PROBE_COUNT }, async (_, i) => {
      await delay(i * SHARD_PROBE_INTERVAL_MS);
      if (!isReached) await this.upkeep.probe(client.db(), SHARD_PROBE_TIMEOUT_MS);
      isReached = true;
    });
    await Promise.any(probes).catch(({ errors: [error] }: AggregateError) => {
      throw error;
    });
  }
}

function newClient(uri: string): MongoClient {
  try {
    const client = new Client(uri);
    client.db();
    return client;
  } catch (error) {
    throw unusable(error as Error, uri);
  }
}

const NAMES_DATABASE = /^[^:]+:\/\/[^/?]*\/[^?]/;

/**
 * A client whose default database is `advocacy` if the URI names none. The option `dbName` would also become the database
 * that users are authenticated against.
 */
class Client extends MongoClient {
  private readonly defaultName: string | undefined;

  constructor(uri: string) {
    super(uri, OPTIONS);
    this.defaultName = NAMES_DATABASE.test(uri) ? undefined : 'advocacy';
  }

  override db(name = this.defaultName, options?: DbOptions): Db {
    return super.db(name, options);
  }
}

async function requireTransactions(client: MongoClient): Promise<void> {
  const problem = problemOf(await client.db('admin').command({ hello: 1 }));
  if (problem) throw asError(problem);
}

function asError({ message, isPermanent }: Problem): Error {
  return isPermanent ? new UnsupportedDatabase(message) : new DatabaseUnavailable(`${UNUSABLE}: ${message}`);
}

function lineOf(error: Error, message: string): string {
  if (error instanceof DatabaseUnavailable) return error.message;
  return `${error instanceof UnsupportedDatabase ? UNUSABLE : message}: ${error.message}`;
}

/** Says what is wrong as the driver does, but nothing that may have a piece of a password in it. */
function unusable(error: Error, uri: string): UnsupportedDatabase {
  if (error instanceof UnsupportedDatabase) return error;
  const password = /^[^:]+:\/\/[^:]*:(.+)@/.exec(uri)?.[1] ?? '';
  const pieces = password.split(/[/?:@]/).filter((piece) => piece !== '');
  const isSecretFree = error instanceof MongoError && !pieces.some((piece) => error.message.includes(piece));
  return new UnsupportedDatabase(isSecretFree ? error.message : 'is no connection string that MongoDB can read');
}

/** What the driver lets through when it writes on a connection that the server has just ended. */
const BROKEN_SOCKET: ReadonlySet<unknown> = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED']);

/** The code of a command that took longer than `maxTimeMS` (MaxTimeMSExpired). */
export const TIME_EXPIRED = 50;

/**
 * The codes with which mongos reports that a shard is unavailable: HostUnreachable, HostNotFound, NetworkTimeout,
 * FailedToSatisfyReadPreference (no primary), NetworkInterfaceExceededTimeLimit, PooledConnectionAcquisitionExceededTimeLimit,
 * SocketException. And `TIME_EXPIRED`, if `maxTimeMS` was over before mongos gave up.
 */
const SHARD_CODES: ReadonlySet<unknown> = new Set([6, 7, 89, 133, 202, 407, 9001]);

/**
 * The codes of transient errors, by MongoDB's error_codes.yml: a retry may succeed.
 * - Those of its category RetriableError (91 to 13436): a server starts, stops or is no longer the primary.
 * - StaleDbVersion and StaleConfig: data moves between shards, and the retries of mongos are used up.
 * - LockBusy, ConflictingOperationInProgress, MovePrimaryInProgress: a collection is created, sharded or moved.
 */
const TRANSIENT_CODES: ReadonlySet<unknown> = new Set([
  ...SHARD_CODES,
  ...[91, 134, 189, 262, 317, 358, 402, 406, 412, 10107, 11600, 11602, 13435, 13436],
  ...[249, 13388],
  ...[46, 117, 319],
]);
const TRANSIENT_NAMES: ReadonlySet<string> = new Set([
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoServerSelectionError',
  'MongoPoolClearedError',
  'MongoPoolClearedOnNetworkError',
  'MongoWaitQueueTimeoutError',
  'MongoTopologyClosedError',
  'MongoNotConnectedError',
]);

/** Whether something failed because the database was away or busy: it may do better when it is tried again. */
export function isTransient(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable || error instanceof LockTimeout || isOfNetwork(error)) return true;
  if (!(error instanceof MongoError)) return false;
  return (
    TRANSIENT_NAMES.has(error.name) ||
    TRANSIENT_CODES.has(error.code) ||
    error.hasErrorLabel('RetryableWriteError') ||
    error.hasErrorLabel('RetryableError')
  );
}

/** Returns whether an error means that mongos cannot reach a shard. */
export function isShardUnavailable(error: unknown): boolean {
  return error instanceof MongoServerError && (SHARD_CODES.has(error.code) || error.code === TIME_EXPIRED);
}

/** The look-up of the servers that a name stands for (mongodb+srv) fails with an error of its own, as a socket does. */
function isOfNetwork(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return BROKEN_SOCKET.has(code) || (syscall !== undefined && /^query/.test(syscall));
}

const isBusy = (error: unknown): boolean =>
  error instanceof LockTimeout ||
  error instanceof DatabaseUnavailable ||
  (error as Error).name === 'MongoWaitQueueTimeoutError';

/** Rejects with `DatabaseAway` at the deadline; what goes on then is of no interest any more. */
async function withDeadline<T>(deadline: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DatabaseUnavailable(MESSAGE)), deadline - performance.now());
  });
  work.catch(() => 'it may fail after the deadline');
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
