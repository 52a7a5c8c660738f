import { doNothing } from '../../core/shared/do-nothing.ts';

/** A request for the locks of some keys. */
export interface Lock {
  /** Resolves when all earlier requests for one of the keys were released. */
  readonly acquired: Promise<unknown>;
  /** Releases the locks. A request that has not acquired its locks yet never delays the later ones. */
  release(): void;
}

/** Locks that calls of this process share. Requests get a lock in the order of their arrival. */
export class Locks {
  private readonly lastReleases = new Map<string, Promise<void>>();

  /** Returns whether a request for these keys would acquire its locks at once. */
  areFree(keys: readonly string[]): boolean {
    return keys.every((key) => !this.lastReleases.has(key));
  }

  /** Requests the locks of all keys at the same time, so two requests never wait for each other. */
  request(keys: readonly string[]): Lock {
    const acquired = Promise.all(keys.map((key) => this.lastReleases.get(key)));
    let release = doNothing;
    const wasReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    const released = Promise.all([acquired, wasReleased]).then(() => {
      for (const key of keys) if (this.lastReleases.get(key) === released) this.lastReleases.delete(key);
    });
    for (const key of keys) this.lastReleases.set(key, released);
    return { acquired, release };
  }
}
