import { createMemoryEngine } from '../../../adapters/memory/engine.ts';
import { DEMO_API_KEY } from '../request.ts';
import type { TestEngine } from './engine.ts';

export const memory: TestEngine = {
  name: 'memory',
  isModel: true,
  transactions: 'serialized',
  isShared: false,
  takesClock: true,
  createDatabase: async () => ({ location: '', remove: async () => undefined }),
  createUnopenedDatabase: async () => ({ location: '', remove: async () => undefined }),
  createSettings: () => ({ STORAGE: 'memory', DEMO_WORKSPACE: 'false', DEMO_API_KEY: undefined as never }),
  demoSettings: { DEMO_WORKSPACE: 'true', DEMO_API_KEY },
  countExaminedRecords: 'unbounded',
  open: async (_, now) => ({ engine: createMemoryEngine(now), close: async () => undefined }),
};
