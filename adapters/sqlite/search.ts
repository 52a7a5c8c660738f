import type { Database } from './database.ts';
import { quote, type Table, tables } from './layout.ts';

/**
 * The maximum number of tokens that a search looks up. A text that has these tokens is then searched for the whole
 * term.
 */
const MAX_SEARCHED_TOKEN_COUNT = 8;
/**
 * The maximum number of pages (4 KiB) of a search index that a commit group merges each time it updates the index: 2 to
 * 5 ms of work.
 */
const MERGED_PAGE_COUNT = 32;

/**
 * Returns the tokens of a folded text, each after a line feed: the workspace and three successive UTF-16 code units.
 * Because a token has the workspace, neither the result nor the time of a search depends on other workspaces.
 */
function listTokens(workspaceId: string, text: string): string {
  const prefix = `\n${hash(workspaceId).toString(36)}_`;
  // Control characters would end a token.
  const searchable = text.replace(/\p{Cc}/gu, ' ');
  let tokens = '';
  for (let end = 3; end <= searchable.length; end++) tokens += prefix + searchable.slice(end - 3, end);
  // A token can begin or end with half of a surrogate pair.
  return tokens.toWellFormed();
}

/** Returns the FNV-1a hash of a text. If two workspaces have the same hash, their searches are only slower. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}

/** Returns the FTS5 query of the texts that can contain a folded term, or `undefined` if the index cannot find it. */
export function toSearchQuery(workspaceId: string, term: string): string | undefined {
  const tokens = [...new Set(listTokens(workspaceId, term).split('\n').slice(1))];
  if (tokens.length === 0) return undefined;
  const step = Math.max(1, tokens.length / MAX_SEARCHED_TOKEN_COUNT);
  const searched = tokens.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step));
  return searched.map((token) => `"${token.replaceAll('"', '""')}"`).join(' ');
}

/** Adds the function that the updates of search indexes use to a connection. */
export function defineSearchFunction(database: Database): void {
  database.defineFunction('search_tokens', (workspaceId, text) => listTokens(String(workspaceId), String(text ?? '')));
}

/** Notes that the next commit must index the texts of a row, which `isNew` if the index does not have it yet. */
export function noteOutdated(database: Database, { name, searches }: Table, row: number, isNew: boolean): void {
  if (searches.length === 0) return;
  const rows = database.outdatedRows.get(name) ?? new Map();
  // The number of a removed row can become that of a new one.
  database.outdatedRows.set(name, rows.set(row, isNew && rows.get(row) !== false));
}

/**
 * Indexes the texts of all noted rows, before a commit. If the change of a noted row was undone, the unchanged row is
 * indexed again. One statement for each index adds all texts, because FTS5 writes its tokens to the file at the end
 * of each savepoint. A statement for each record would take about as long as all other work that creates the record.
 */
export function updateSearchIndexes(database: Database): void {
  for (const [name, rows] of database.outdatedRows) {
    const [all, indexed] = [[...rows.keys()], [...rows.keys()].filter((row) => !rows.get(row))].map((it) =>
      JSON.stringify(it),
    ) as [string, string];
    for (const { field, name: index } of tables.get(name)?.searches ?? []) {
      if (indexed !== '[]') {
        database.run(`DELETE FROM ${quote(index)} WHERE rowid IN (SELECT value FROM json_each(?))`, indexed);
      }
      // In any other order, FTS5 would write to the file more often.
      const insert = `INSERT INTO ${quote(index)} (rowid, tokens)
        SELECT "row", search_tokens("workspaceId", ${quote(field)}) FROM ${quote(name)}
        WHERE "row" IN (SELECT value FROM json_each(?)) ORDER BY "row"`;
      database.run(insert, all);
      database.run(`INSERT INTO ${quote(index)} (${quote(index)}, rank) VALUES ('merge', ${MERGED_PAGE_COUNT})`);
    }
    database.outdatedRows.delete(name);
  }
}
