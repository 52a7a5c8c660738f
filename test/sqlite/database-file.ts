import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import type { SqliteConnection } from '../../adapters/sqlite/connection.ts';
import type { Database } from '../../adapters/sqlite/database.ts';
import { createSqliteEngine } from '../../adapters/sqlite/engine.ts';
import { tables } from '../../adapters/sqlite/layout.ts';

/** The default size of a page. */
export const PAGE_BYTES = 4_096;

/** Creates a test with the path of a database file in a new folder. The file does not exist yet. */
export function withDatabasePath(test: (file: string) => Promise<void>): () => Promise<void> {
  return async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sqlite-'));
    try {
      await test(join(folder, 'advocacy.db'));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
}

export interface OpenFile {
  readonly engine: StorageEngine;
  readonly connection: SqliteConnection;
  /** The connection that writes. */
  readonly writer: Database;
  readonly reader: Database;
}

/** Opens an engine on a file, runs `work`, and closes the engine. */
export async function withOpenEngine<T>(
  file: string,
  work: (open: OpenFile) => Promise<T>,
  now?: () => number,
): Promise<T> {
  const { engine, connection } = createSqliteEngine(file, now);
  await connection.open();
  try {
    return await work({ engine, connection, ...getDatabases(connection) });
  } finally {
    await connection.close();
  }
}

/** Returns the connections of an engine to its file. */
export function getDatabases(connection: SqliteConnection): Pick<OpenFile, 'writer' | 'reader'> {
  // biome-ignore lint/complexity/useLiteralKeys: the field is private
  const { connections } = { connections: connection['connections'] };
  if (!connections) throw new Error('not open');
  return connections;
}

/** Asserts that a file is intact, and that each search index has exactly the tokens of the texts in its table. */
export function assertIntact(writer: Database): void {
  assert.deepEqual(writer.all('PRAGMA integrity_check'), [['ok']]);
  assert.equal(writer.outdatedRows.size, 0);
  for (const { name: table, searches } of tables.values()) {
    for (const { name, field } of searches) {
      writer.exec(`INSERT INTO ${name} (${name}) VALUES ('integrity-check');
        CREATE VIRTUAL TABLE temp.tokens USING fts5vocab(main, ${name}, instance)`);
      const expected = writer.all(`SELECT row, search_tokens("workspaceId", "${field}") FROM ${table} ORDER BY row`);
      const list = ([row, tokens]: unknown[]) =>
        new Set(
          String(tokens)
            .split('\n')
            .slice(1)
            .map((it) => `${row} ${it}`),
        );
      const found = writer.all('SELECT doc, term FROM temp.tokens').map(([row, token]) => `${row} ${token}`);
      writer.exec('DROP TABLE temp.tokens');
      assert.deepEqual(found.sort(), expected.flatMap((it) => [...list(it)]).sort(), name);
    }
  }
}

/** Turns a file into a file of a made-up earlier version, which had no search indexes. */
export function removeSearchIndexes(writer: Database): void {
  for (const { name } of [...tables.values()].flatMap(({ searches }) => searches)) writer.exec(`DROP TABLE "${name}"`);
  writer.exec('PRAGMA user_version = 0');
}
