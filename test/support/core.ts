import { createMemoryEngine } from '../../adapters/memory/engine.ts';
import { createNodeSystem } from '../../adapters/node/system.ts';
import { createStorage, type StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import { Application, type ApplicationOptions, type Storage } from '../../core/application.ts';
import type { System } from '../../core/shared/system.ts';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const DAY = 24 * 60 * MINUTE;

/** The initial time of a test: 2026-01-31T12:00:00.000Z. */
export const NOON = Date.UTC(2026, 0, 31, 12);

/** The IDs of two workspaces. */
export const OWN = 'own';
export const OTHER = 'other';

/** The use cases on a new memory storage, with a clock that only the test advances. */
export interface TestCore {
  readonly app: Application;
  readonly storage: Storage;
  /** The storage engine of `storage`, for records that no use case reads or writes. */
  readonly engine: StorageEngine;
  readonly clock: { now: number };
}

export function testCore(system: Partial<System> = {}, options: ApplicationOptions = {}): TestCore {
  const clock = { now: NOON };
  const now = () => clock.now;
  const engine = createMemoryEngine(now);
  const storage = createStorage(engine);
  return { app: new Application(storage, { ...createNodeSystem(), now, ...system }, options), storage, engine, clock };
}
