import { AssertionError } from 'node:assert';

const MAX_SHOWN_FAILURE_COUNT = 10;

/** Checks every case of a table, and then fails with the names of all failed cases, if any. Calls can be nested. */
export async function each<Case>(
  table: Iterable<readonly [name: string, value: Case]> | Readonly<Record<string, Case>>,
  check: (value: Case, name: string) => unknown,
): Promise<void> {
  const cases = Symbol.iterator in table ? [...table] : Object.entries<Case>(table);
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

/** Returns a table in which each text is its own name. */
export function textCases(...values: readonly string[]): [string, string][] {
  return values.map((value) => [value, value]);
}
