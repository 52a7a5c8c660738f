import { type Db, type DbOptions, MongoClient, type MongoClientOptions, MongoError } from 'mongodb';
import { MAX_CONNECTION_COUNT } from '../persistence/connection-limit.ts';
import { STORAGE_TIMEOUT_MS } from '../persistence/storage-timeout.ts';
import { UnsupportedDatabase } from './errors.ts';

const CLIENT_OPTIONS: MongoClientOptions = {
  appName: 'workspace-advocacy',
  serverSelectionTimeoutMS: 5_000,
  connectTimeoutMS: 2_000,
  socketTimeoutMS: 5_000,
  heartbeatFrequencyMS: 2_000,
  waitQueueTimeoutMS: STORAGE_TIMEOUT_MS,
  maxPoolSize: MAX_CONNECTION_COUNT,
  ignoreUndefined: true,
  // The stored texts are valid UTF-8. Validating each character again takes longer than reading the document.
  enableUtf8Validation: false,
  retryReads: true,
  retryWrites: true,
  readPreference: 'primary',
  w: 'majority',
  journal: true,
};

/** The time limit of a command on the server. */
export const COMMAND_TIMEOUT = { maxTimeMS: 2_000 };

const DEFAULT_DATABASE = 'advocacy';
const INVALID_CONNECTION_STRING =
  'must be a valid MongoDB connection string. Percent-encode special characters in the user name and the password';
const WITH_DATABASE_NAME = /^[^:]+:\/\/[^/?]*\/[^?]/;

/** Creates a client that is not connected yet. Throws `UnsupportedDatabase` if the connection string is invalid. */
export function createClient(uri: string, options?: MongoClientOptions): MongoClient {
  try {
    const client = new ClientWithDefaultDatabase(uri, options);
    client.db();
    return client;
  } catch (error) {
    throw toUnsupportedDatabase(error as Error, uri);
  }
}

/**
 * A client that uses the database `advocacy` if the connection string names none. The option `dbName` would do the
 * same, but would also change the database that users are authenticated against.
 */
class ClientWithDefaultDatabase extends MongoClient {
  private readonly defaultName: string | undefined;

  constructor(uri: string, options?: MongoClientOptions) {
    super(uri, { ...CLIENT_OPTIONS, ...options });
    this.defaultName = WITH_DATABASE_NAME.test(uri) ? undefined : DEFAULT_DATABASE;
  }

  override db(name = this.defaultName, options?: DbOptions): Db {
    return super.db(name, options);
  }
}

/**
 * Returns an `UnsupportedDatabase` unchanged. For an error of the driver whose message contains no part of the
 * password, returns an error with this message. For any other error, returns an error with a general message.
 */
export function toUnsupportedDatabase(error: Error, uri: string): UnsupportedDatabase {
  if (error instanceof UnsupportedDatabase) return error;
  const { code, path } = error as NodeJS.ErrnoException;
  if (path !== undefined) return new UnsupportedDatabase(`cannot read ${path} (${code})`);
  const password = /^[^:]+:\/\/[^:]*:(.+)@/.exec(uri)?.[1] ?? '';
  const parts = password.split(/[/?:@]/).filter((part) => part !== '');
  const isSecretFree = error instanceof MongoError && !parts.some((part) => error.message.includes(part));
  return new UnsupportedDatabase(isSecretFree ? error.message : INVALID_CONNECTION_STRING);
}
