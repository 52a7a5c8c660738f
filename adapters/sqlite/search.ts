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
const TOKEN_SEPARATOR = '\n';

/**
 * Returns the distinct tokens of a folded text: the workspace and three successive UTF-16 code units. Because a token
 * has the workspace, neither the result nor the time of a search depends on the texts of other workspaces.
 */
function listTokens(workspaceId: string, text: string): string[] {
  const prefix = `${hash(workspaceId).toString(36)}_`;
  // Control characters would end a token.
  const searchable = text.replace(/\p{Cc}/gu, ' ');
  const trigrams = new Set<string>();
  for (let end = 3; end <= searchable.length; end++) trigrams.add(searchable.slice(end - 3, end));
  // A trigram can begin or end with half of a surrogate pair.
  return Array.from(trigrams, (trigram) => (prefix + trigram).toWellFormed());
}

/**
 * FNV-1a (https://datatracker.ietf.org/doc/html/draft-eastlake-fnv). Two workspaces with the same hash only make a
 * search slower.
 */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}

/**
 * Returns the FTS5 query of the texts that can contain a folded term, or `undefined` if the index cannot find the term.
 */
export function toSearchQuery(workspaceId: string, term: string): string | undefined {
  const tokens = listTokens(workspaceId, term);
  if (tokens.length === 0) return undefined;
  const step = Math.max(1, tokens.length / MAX_SEARCHED_TOKEN_COUNT);
  const searched = tokens.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step));
  return searched.map((token) => `"${token.replaceAll('"', '""')}"`).join(' ');
}

/** Adds the function that the updates of search indexes use to a connection. */
export function defineSearchFunction(database: Database): void {
  database.defineFunction('search_tokens', (workspaceId, text) =>
    listTokens(String(workspaceId), String(text ?? '')).join(TOKEN_SEPARATOR),
  );
}

/** Notes that the next commit must index the texts of a row again. */
export function noteOutdated(database: Database, { name, searches }: Table, row: number): void {
  if (searches.length === 0) return;
  const rows = database.outdatedRows.get(name) ?? new Set();
  database.outdatedRows.set(name, rows.add(row));
}

/**
 * Indexes the texts of all noted rows, before a commit. A row that was noted in vain, because its change was undone, is
 * indexed as it is. One statement for each index adds all texts, because FTS5 writes its tokens to the file at the end
 * of each savepoint. A statement for each record would take about as long as all other work that creates the record.
 */
export function updateSearchIndexes(database: Database): void {
  for (const [name, rows] of database.outdatedRows) {
    const rowNumbers = JSON.stringify([...rows]);
    for (const { field, name: index } of tables.get(name)?.searches ?? []) {
      database.run(`DELETE FROM ${quote(index)} WHERE rowid IN (SELECT value FROM json_each(?))`, rowNumbers);
      // In any other order, FTS5 would write to the file more often.
      const insert = `INSERT INTO ${quote(index)} (rowid, tokens) SELECT "row", search_tokens("workspaceId", ${quote(field)})
        FROM ${quote(name)} WHERE "row" IN (SELECT value FROM json_each(?)) ORDER BY "row"`;
      database.run(insert, rowNumbers);
      database.run(`INSERT INTO ${quote(index)} (${quote(index)}, rank) VALUES ('merge', ${MERGED_PAGE_COUNT})`);
    }
    database.outdatedRows.delete(name);
  }
}
