/** Locks that calls of this process share. Waiting calls get a lock in the order of their arrival. */
export class Locks {
  private readonly lastReleases = new Map<string, Promise<void>>();

  /**
   * Waits until all earlier owners of a lock with one of the keys have released it. Resolves to a function that
   * releases the locks. All keys are requested at the same time, so two calls never wait for each other.
   */
  async acquire(keys: readonly string[]): Promise<() => void> {
    const earlier = keys.map((key) => this.lastReleases.get(key));
    let resolve: (() => void) | undefined;
    const released = new Promise<void>((resolveReleased) => {
      resolve = resolveReleased;
    });
    for (const key of keys) this.lastReleases.set(key, released);
    await Promise.all(earlier);
    return () => {
      resolve?.();
      for (const key of keys) if (this.lastReleases.get(key) === released) this.lastReleases.delete(key);
    };
  }
}
