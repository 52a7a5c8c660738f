import { hash, randomInt } from 'node:crypto';
import { setImmediate as pause } from 'node:timers/promises';
import { v7 } from 'uuid';
import { BASE62 } from '../../core/shared/base62.ts';
import type { System } from '../../core/shared/system.ts';

/** Returns the clocks, the random values and the hash function of Node.js. */
export function createNodeSystem(): System {
  return {
    now: Date.now,
    newId: () => v7(),
    newRandomText: (length) => Array.from({ length }, () => BASE62[randomInt(BASE62.length)]).join(''),
    sha256: (text) => hash('sha256', text),
    pause: () => pause(),
  };
}
