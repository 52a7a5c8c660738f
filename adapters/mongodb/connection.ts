import { type Db, MongoClient, type MongoClientOptions, MongoError, MongoParseError } from 'mongodb';

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
  retryReads: true,
  retryWrites: true,
  readPreference: 'primary',
  writeConcern: { w: 'majority', journal: true },
};
const FIRST_ATTEMPT_MS = 2_000;
const GIVES_UP_AFTER_MS = 10_000;
const MOST_TRIES = 5;
const FIRST_PAUSE_MS = 50;
const PROBES_EVERY_MS = 500;
const TELLS_EVERY_MS = 10_000;

const STANDALONE = [
  'this mongod is no replica set, and transactions need one. To make it a set of one, start it with',
  "`mongod --replSet rs0` and then run `mongosh --eval 'rs.initiate()'`",
].join(' ');
const MESSAGE = 'MongoDB cannot be reached';

/** A database that cannot be used as it is, however long one waits; the message says what to do. */
export class UnusableDatabase extends Error {
  override readonly name = 'UnusableDatabase';
}

/** The database is away; it may come back. */
export class DatabaseAway extends Error {
  override readonly name = 'DatabaseAway';
}

/**
 * A connection that opens by itself, as soon as the database is there, and outlives its failures. `prepare` runs once
 * the database is there; `tell` gets a line when it is away, and when it is back.
 */
export class Connection {
  private readonly opened: Promise<MongoClient>;
  private client: MongoClient | undefined;
  private failingSince: number | undefined;
  private toldAt = Number.NEGATIVE_INFINITY;
  private closed = false;

  constructor(
    private readonly uri: string,
    private readonly prepare: (db: Db) => Promise<void>,
    private readonly tell: (line: string) => void,
  ) {
    this.opened = this.open();
    this.opened.catch(() => 'whoever uses it is told');
  }

  /** Resolves when it is open or the first attempt has failed; rejects with `UnusableDatabase`. */
  async attempted(): Promise<void> {
    await Promise.race([this.opened, pause(FIRST_ATTEMPT_MS)]);
  }

  /** Rejects with `DatabaseAway` while the database is away. */
  async ready(): Promise<void> {
    if (!this.client || this.failingSince !== undefined) throw new DatabaseAway(MESSAGE);
    await this.run((client) => client.db().command({ ping: 1 }), 1);
  }

  /**
   * Does `work`, and again where the database was away: five times in ten seconds at the most, and not at all where
   * nothing has succeeded for ten seconds. `work` may run again although it had its effect.
   */
  async run<T>(work: (client: MongoClient) => Promise<T>, mostTries = MOST_TRIES): Promise<T> {
    const deadline = Date.now() + GIVES_UP_AFTER_MS;
    for (let tries = 1; ; tries++) {
      if (this.isLost()) throw new DatabaseAway(MESSAGE);
      try {
        const result = await before(deadline, this.opened.then(work));
        this.failingSince = undefined;
        return result;
      } catch (error) {
        if (!isPassing(error)) throw error;
        this.noteFailure(error as Error);
        if (tries >= mostTries || Date.now() >= deadline) throw new DatabaseAway(MESSAGE, { cause: error });
        await pause(FIRST_PAUSE_MS * 2 ** tries * Math.random());
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
      const client = newClient(this.uri);
      try {
        await client.connect();
        await requireTransactions(client);
        await this.prepare(client.db());
        this.client = client;
        this.noteSuccess();
        return client;
      } catch (error) {
        await client.close();
        if (!isPassing(error)) throw this.refusal(error as Error);
        this.noteFailure(error as Error);
        await pause(PROBES_EVERY_MS);
      }
    }
    throw new DatabaseAway(MESSAGE);
  }

  private refusal(error: Error): UnusableDatabase {
    const refusal = unusable(error);
    this.tell(refusal.message);
    return refusal;
  }

  private isLost(): boolean {
    return this.failingSince !== undefined && Date.now() - this.failingSince >= GIVES_UP_AFTER_MS;
  }

  private noteSuccess(): void {
    if (this.failingSince !== undefined) this.tell('MongoDB is back');
    this.failingSince = undefined;
    this.toldAt = Number.NEGATIVE_INFINITY;
  }

  private noteFailure({ message }: Error): void {
    const now = Date.now();
    if (now - this.toldAt >= TELLS_EVERY_MS) {
      this.toldAt = now;
      this.tell(`${MESSAGE}: ${message}`);
    }
    if (this.failingSince !== undefined) return;
    this.failingSince = now;
    if (this.client) void this.probe(this.client);
  }

  private async probe(client: MongoClient): Promise<void> {
    while (this.failingSince !== undefined && !this.closed) {
      await pause(PROBES_EVERY_MS);
      await client
        .db()
        .command({ ping: 1 })
        .then(() => this.noteSuccess())
        .catch(() => 'it is still away');
    }
  }
}

function newClient(uri: string): MongoClient {
  try {
    return new MongoClient(uri, OPTIONS);
  } catch (error) {
    throw unusable(error as Error);
  }
}

async function requireTransactions(client: MongoClient): Promise<void> {
  const { setName, msg } = await client.db('admin').command({ hello: 1 });
  if (setName === undefined && msg !== 'isdbgrid') throw new UnusableDatabase(STANDALONE);
}

function unusable(error: Error): UnusableDatabase {
  if (error instanceof UnusableDatabase) return error;
  const isSecretFree = error instanceof MongoError && !(error instanceof MongoParseError);
  return new UnusableDatabase(isSecretFree ? error.message : 'is no connection string that MongoDB can read');
}

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

function isPassing(error: unknown): boolean {
  if (error instanceof DatabaseAway) return true;
  if (!(error instanceof MongoError)) return false;
  return (
    PASSING_NAMES.has(error.name) ||
    PASSING_CODES.has(error.code) ||
    error.hasErrorLabel('RetryableWriteError') ||
    error.hasErrorLabel('RetryableError')
  );
}

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
