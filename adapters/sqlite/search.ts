import type { Database } from './database.ts';
import { quote, tables } from './layout.ts';

/** The statements that update each search index. */
const updates = [...tables.values()].flatMap(({ name: table, searches }) =>
  searches.map(({ field, name, outdated }) => ({
    findSql: `SELECT 1 FROM ${quote(outdated)} LIMIT 1`,
    // A row with 'delete' removes a text from the index (https://sqlite.org/fts5.html#the_delete_command). With any other `ORDER BY`, FTS5
    // writes to the file more often.
    updateSql: `INSERT INTO ${quote(name)} (${quote(name)}, rowid, ${quote(field)})
      SELECT 'delete', "row", "text" FROM ${quote(outdated)} WHERE "text" IS NOT NULL
      UNION ALL SELECT NULL, "row", ${quote(field)} FROM ${quote(outdated)} CROSS JOIN ${quote(table)} USING ("row")
      ORDER BY 2, 1 DESC`,
    clearSql: `DELETE FROM ${quote(outdated)}`,
  })),
);

export function hasOutdatedIndexes(database: Database): boolean {
  return updates.some(({ findSql }) => database.all(findSql).length > 0);
}

/**
 * Updates the search indexes, before a commit. One statement for each index adds all new texts, because FTS5 writes its trigrams to the
 * file at the end of each statement and savepoint. A statement for each record would take about as long as all other work that creates the
 * record.
 */
export function updateSearchIndexes(database: Database): void {
  for (const { findSql, updateSql, clearSql } of updates) {
    // Without this check, each commit takes 100 µs longer.
    if (database.all(findSql).length === 0) continue;
    database.run(updateSql);
    database.run(clearSql);
  }
}
