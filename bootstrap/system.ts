import { hash, randomInt } from 'node:crypto';
import { v7 } from 'uuid';
import { BASE62 } from '../core/access/api-key.ts';
import type { System } from '../core/shared/system.ts';

/** Returns the clocks, the random values and the hash function of Node.js. */
export function createNodeSystem(): System {
  return {
    now: Date.now,
    monotonicNow: () => performance.now(),
    newId: () => v7(),
    newSecret: () => Array.from({ length: 32 }, () => BASE62[randomInt(62)]).join(''),
    sha256: (text) => hash('sha256', text),
  };
}
