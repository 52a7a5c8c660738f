import { type OpenStorage, onStorage, type Tests } from './on-storage.ts';
import { queries } from './queries.ts';
import { records } from './records.ts';
import { registry } from './registry.ts';
import { transactions } from './transactions.ts';

/**
 * What every storage does, as tests. What is open may be shared by other tests: each of these works with ids and in
 * workspaces of its own.
 */
export function storageContract(open: OpenStorage): Tests {
  const test = onStorage(open);
  return {
    'is ready when it is open': test((storage) => storage.ready()),
    ...records(test),
    ...registry(test),
    ...queries(test),
    ...transactions(test),
  };
}
