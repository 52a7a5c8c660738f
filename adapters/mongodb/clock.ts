import type { MongoClient } from 'mongodb';

/**
 * The clock of a database: that of its primary, or of its mongos. It is read from the heartbeats of the driver, which come
 * every few seconds, and goes on by the monotonic clock of this process in between. So it costs no command, and the clock
 * of this process may be wrong or be set.
 */
export class DatabaseClock {
  /** What to add to `performance.now()`: at first, the clock of this process. */
  private offset = Date.now() - performance.now();

  /** Reads the clock from the heartbeats of a client, from now on. */
  follow(client: MongoClient): void {
    client.on('serverHeartbeatSucceeded', ({ reply: { isWritablePrimary, localTime } }) => {
      if (isWritablePrimary && localTime instanceof Date) this.offset = localTime.getTime() - performance.now();
    });
  }

  /** Milliseconds since the epoch. */
  now(): number {
    return Math.floor(this.offset + performance.now());
  }
}
