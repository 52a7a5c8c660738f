import { AssertionError } from 'node:assert';

const SHOWN = 10;

/** Checks every case of a table, and then fails with the name of each case that failed. Tables nest. */
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
  if (cases.length === 0) throw new AssertionError({ message: 'the table has no case' });
  if (failures.length === 0) return;
  const shown = failures.slice(0, SHOWN).join('\n');
  throw new AssertionError({ message: `${failures.length} of ${cases.length} cases failed\n${shown}` });
}

/** A table of texts, each named by itself. */
export function textCases(...values: readonly string[]): [string, string][] {
  return values.map((value) => [value, value]);
}
