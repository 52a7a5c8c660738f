import { type Db, type DbOptions, MongoClient, type MongoClientOptions, MongoError } from 'mongodb';
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
export const MOST_TIME = { maxTimeMS: 2_000 };
const FIRST_ATTEMPT_MS = 2_000;
const GIVES_UP_AFTER_MS = 10_000;
const MOST_TRIES = 5;
const FIRST_PAUSE_MS = 50;
const PROBES_EVERY_MS = 500;
const TELLS_EVERY_MS = 10_000;

const MESSAGE = 'MongoDB cannot be reached';
const UNUSABLE = 'MongoDB cannot be used';

/** A database that cannot be used as it is, however long one waits; the message says what to do. */
export class UnusableDatabase extends Error {
  override readonly name = 'UnusableDatabase';
}

/** The database is away; it may come back. */
export class DatabaseAway extends Error {
  override readonly name = 'DatabaseAway';
}

/**
 * A write waited too long, for a transaction of others to end, such as that of a process that died, or for the majority
 * to have it. It may be tried again.
 */
export class Blocked extends Error {
  override readonly name = 'Blocked';
}

/**
 * A connection that opens by itself, as soon as the database is there, and outlives its failures. `prepare` runs once
 * the database is there; `tell` gets a line when it is away, and when it is back.
 */
export class Connection {
  private readonly diagnosis = new Diagnosis();
  private readonly opened: Promise<MongoClient>;
  private client: MongoClient | undefined;
  private isStarted = false;
  private isProbing = false;
  private closed = false;
  private succeededAt = Date.now();
  private failingSince: number | undefined = this.succeededAt;
  private toldAt = Number.NEGATIVE_INFINITY;
  private isToldAway = false;
  private tried = 0;
  private inUse = 0;
  private waiting = 0;

  constructor(
    private readonly uri: string,
    private readonly prepare: (db: Db) => Promise<void>,
    private readonly tell: (line: string) => void,
  ) {
    this.opened = this.open();
    this.opened.catch(() => 'whoever uses it is told');
  }

  /** Whether the last that is known of the database is that it answers. */
  get isUp(): boolean {
    return this.failingSince === undefined;
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
  async attempted(): Promise<void> {
    try {
      await before(Date.now() + FIRST_ATTEMPT_MS, this.opened);
    } catch (error) {
      if (!(error instanceof DatabaseAway)) throw error;
    } finally {
      this.isStarted = true;
    }
  }

  /** Rejects with `DatabaseAway` while the database is away. */
  async ready(): Promise<void> {
    if (!this.isUp) throw this.diagnosed() ?? new DatabaseAway(MESSAGE);
    await this.run((client) => client.db().command({ ping: 1 }), 1);
  }

  /**
   * Does `work`, and again where the database was away: five times in ten seconds at the most, and not at all where
   * nothing has succeeded for ten seconds. `work` may run again although it had its effect, but not while it still
   * runs.
   */
  async run<T>(work: (client: MongoClient) => Promise<T>, mostTries = MOST_TRIES): Promise<T> {
    const deadline = Date.now() + GIVES_UP_AFTER_MS;
    for (let tries = 1; ; tries++) {
      const startedAt = Date.now();
      if (this.isLost() || startedAt >= deadline) throw new DatabaseAway(MESSAGE);
      try {
        const result = await before(deadline, this.opened.then(work));
        this.noteSuccess();
        return result;
      } catch (error) {
        if (this.closed || !isPassing(error)) throw error;
        this.noteFailure(error as Error, startedAt);
        if (tries >= mostTries || error instanceof DatabaseAway) throw new DatabaseAway(MESSAGE, { cause: error });
        await pause(FIRST_PAUSE_MS * 2 ** tries * Math.random());
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
      const startedAt = Date.now();
      this.client = this.counted(newClient(this.uri));
      const refusal = this.diagnosis.watch(this.client).then((problem) => Promise.reject(asError(problem)));
      try {
        await Promise.race([this.client.connect(), refusal]);
        await requireTransactions(this.client);
        await this.prepare(this.client.db());
        this.noteSuccess();
        return this.client;
      } catch (error) {
        await this.client.close();
        if (this.closed) break;
        if (!this.isStarted && !isPassing(error)) throw unusable(error as Error, this.uri);
        this.noteFailure(error as Error, startedAt);
        await pause(PROBES_EVERY_MS);
      }
    }
    throw new DatabaseAway(MESSAGE);
  }

  /** Counts what a client does with its connections. */
  private counted(client: MongoClient): MongoClient {
    this.inUse = 0;
    this.waiting = 0;
    client.on('connectionCheckOutStarted', () => this.waiting++);
    client.on('connectionCheckOutFailed', () => this.waiting--);
    client.on('connectionCheckedOut', () => {
      this.waiting--;
      this.inUse++;
    });
    client.on('connectionCheckedIn', () => this.inUse--);
    return client;
  }

  private isLost(): boolean {
    return this.failingSince !== undefined && Date.now() - this.failingSince >= GIVES_UP_AFTER_MS;
  }

  private noteSuccess(): void {
    this.succeededAt = Date.now();
    this.failingSince = undefined;
    if (this.isToldAway) this.tell('MongoDB is back');
    this.isToldAway = false;
  }

  /**
   * Records that the database failed, unless it was only busy: all connections are in use, others hold what is to be
   * written, or our own deadline ended the wait. Writes that wait for a lock or for the majority fail like that, and then
   * reads still work.
   */
  private noteFailure(error: Error, startedAt: number): void {
    if (isBusy(error)) return;
    const now = Date.now();
    if (now - this.toldAt >= TELLS_EVERY_MS) {
      this.toldAt = now;
      this.isToldAway = true;
      this.tell(lineOf(this.diagnosed() ?? error));
    }
    this.failingSince ??= Math.max(startedAt, this.succeededAt);
    void this.probe();
  }

  /** What is known of why no server can be used, beyond the fact. */
  private diagnosed(): Error | undefined {
    const { problem } = this.diagnosis;
    return problem && asError(problem);
  }

  private async probe(): Promise<void> {
    if (this.isProbing) return;
    this.isProbing = true;
    while (this.failingSince !== undefined && !this.closed) {
      await pause(PROBES_EVERY_MS);
      await this.opened
        .then((client) => client.db().command({ ping: 1 }))
        .then(() => this.noteSuccess())
        .catch(() => 'it is still away');
    }
    this.isProbing = false;
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
  return isPermanent ? new UnusableDatabase(message) : new DatabaseAway(`${UNUSABLE}: ${message}`);
}

function lineOf(error: Error): string {
  if (error instanceof DatabaseAway) return error.message;
  return `${error instanceof UnusableDatabase ? UNUSABLE : MESSAGE}: ${error.message}`;
}

/** Says what is wrong as the driver does, but nothing that may have a piece of a password in it. */
function unusable(error: Error, uri: string): UnusableDatabase {
  if (error instanceof UnusableDatabase) return error;
  const password = /^[^:]+:\/\/[^:]*:(.+)@/.exec(uri)?.[1] ?? '';
  const pieces = password.split(/[/?:@]/).filter((piece) => piece !== '');
  const isSecretFree = error instanceof MongoError && !pieces.some((piece) => error.message.includes(piece));
  return new UnusableDatabase(isSecretFree ? error.message : 'is no connection string that MongoDB can read');
}

/** What the driver lets through when it writes on a connection that the server has just ended. */
const BROKEN_SOCKET: ReadonlySet<unknown> = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED']);

/** What a server says that is starting, stopping, or no longer the primary. */
const PASSING_CODES: ReadonlySet<unknown> = new Set([
  6, 7, 89, 91, 134, 189, 262, 317, 358, 9001, 10107, 11600, 11602, 13435, 13436,
]);
const PASSING_NAMES: ReadonlySet<string> = new Set([
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
export function isPassing(error: unknown): boolean {
  if (error instanceof DatabaseAway || error instanceof Blocked || isOfNetwork(error)) return true;
  if (!(error instanceof MongoError)) return false;
  return (
    PASSING_NAMES.has(error.name) ||
    PASSING_CODES.has(error.code) ||
    error.hasErrorLabel('RetryableWriteError') ||
    error.hasErrorLabel('RetryableError')
  );
}

/** The look-up of the servers that a name stands for (mongodb+srv) fails with an error of its own, as a socket does. */
function isOfNetwork(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  return BROKEN_SOCKET.has(code) || (syscall !== undefined && /^query/.test(syscall));
}

const isBusy = (error: unknown): boolean =>
  error instanceof Blocked || error instanceof DatabaseAway || (error as Error).name === 'MongoWaitQueueTimeoutError';

/** Rejects with `DatabaseAway` at the deadline; what goes on then is of no interest any more. */
async function before<T>(deadline: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DatabaseAway(MESSAGE)), deadline - Date.now());
  });
  work.catch(() => 'it may fail after the deadline');
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
