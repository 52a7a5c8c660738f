import { AssertionError } from 'node:assert';
import { isLong } from './scale.ts';

type Table<Case> = Iterable<readonly [name: string, value: Case]> | Readonly<Record<string, Case>>;

const MAX_SHOWN_FAILURE_COUNT = 10;

/** Checks every case of a table, and then fails with the names of all failed cases, if any. Calls can be nested. */
export async function each<Case>(table: Table<Case>, check: (value: Case, name: string) => unknown): Promise<void> {
  const cases = entriesOf(table);
  const failures: string[] = [];
  for (const [name, value] of cases) {
    try {
      await check(value, name);
    } catch (error) {
      failures.push(`${name}: ${error instanceof AssertionError ? error.message : (error as Error)?.stack}`);
    }
  }
  if (cases.length === 0) throw new AssertionError({ message: 'the table is empty' });
  if (failures.length === 0) return;
  const shown = failures.slice(0, MAX_SHOWN_FAILURE_COUNT).join('\n');
  throw new AssertionError({ message: `${failures.length} of ${cases.length} cases failed\n${shown}` });
}

/**
 * Returns each row of a table with its cases. In a long run, a row has all cases. In a quick run, it has some, and each
 * case belongs to at least one row. Use it for cases that all rows handle with the same code, such as bodies that no
 * operation can read.
 */
export function withCases<Row, Case>(
  rows: readonly (readonly [name: string, row: Row])[],
  cases: Table<Case>,
): [name: string, { readonly row: Row; readonly cases: Table<Case> }][] {
  const all = entriesOf(cases);
  return rows.map(([name, row], i) => {
    const own = all.filter((_, at) => isLong || at % rows.length === i % all.length);
    return [name, { row, cases: own }];
  });
}

function entriesOf<Case>(table: Table<Case>): (readonly [name: string, value: Case])[] {
  return Symbol.iterator in table ? [...table] : Object.entries<Case>(table);
}

/** Returns a table in which each text is its own name. */
export function textCases(...values: readonly string[]): [string, string][] {
  return values.map((value) => [value, value]);
}
