import { hash, randomInt } from 'node:crypto';
import { v7 } from 'uuid';
import { SECRET_RANDOM_LENGTH } from '../../core/access/api-key.ts';
import { BASE62 } from '../../core/shared/base62.ts';
import type { System } from '../../core/shared/system.ts';

/** Returns the clocks, the random values and the hash function of Node.js. */
export function createNodeSystem(): System {
  return {
    now: Date.now,
    newId: () => v7(),
    newSecret: () => Array.from({ length: SECRET_RANDOM_LENGTH }, () => BASE62[randomInt(BASE62.length)]).join(''),
    sha256: (text) => hash('sha256', text),
  };
}
