import type { MongoClient } from 'mongodb';

/**
 * The clock of a database: the clock of its primary or of its mongos. It is read from the heartbeats of the driver,
 * every few seconds, and advances by the monotonic clock of this process in between. So it needs no command, and after
 * the first heartbeat, it does not depend on the wall clock of this process.
 */
export class DatabaseClock {
  /**
   * The time of the database minus `performance.now()`. Until the first heartbeat, the wall clock of this process
   * stands in for the clock of the database.
   */
  private offset = Date.now() - performance.now();

  /** Starts to read the clock from the heartbeats of a client. */
  startReading(client: MongoClient): void {
    client.on('serverHeartbeatSucceeded', ({ reply: { isWritablePrimary, localTime } }) => {
      if (isWritablePrimary && localTime instanceof Date) this.offset = localTime.getTime() - performance.now();
    });
  }

  /** Returns the time, in milliseconds since the epoch. */
  now(): number {
    return Math.floor(this.offset + performance.now());
  }
}
