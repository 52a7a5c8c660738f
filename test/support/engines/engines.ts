import type { TestEngine } from './engine.ts';

/**
 * All storage engines. The storage contract, the comparison of use cases and `TEST_STORAGE` use this table. The modules
 * are loaded only if a test needs them.
 */
export const engines: Readonly<Record<TestEngine['name'], () => Promise<TestEngine>>> = {
  memory: async () => (await import('./memory.ts')).memory,
  mongodb: async () => (await import('./mongodb.ts')).mongodb,
  sqlite: async () => (await import('./sqlite.ts')).sqlite,
};
