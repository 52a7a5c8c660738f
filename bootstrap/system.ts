import { hash, randomInt } from 'node:crypto';
import { v7 } from 'uuid';
import type { System } from '../core/shared/system.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Returns the clock, the random values, the hash function and the IDNA conversion of Node.js. */
export function createNodeSystem(demoApiKey?: string): System {
  return {
    now: Date.now,
    monotonicNow: () => performance.now(),
    newId: () => v7(),
    newSecret: () => Array.from({ length: 32 }, () => BASE62[randomInt(62)]).join(''),
    sha256: (text) => hash('sha256', text),
    demoApiKey,
  };
}
