import { Blocked, DatabaseAway, isShardUnavailable } from './connection.ts';

/** A fifth of the connections that a client has (connection.ts). */
const MAX_COMMANDS = 10;
const MAX_WAIT_MS = 10_000;
/** Bounds the memory that an outage takes. */
const MAX_UNAVAILABLE = 10_000;

/**
 * Keeps a shard that is unavailable from using up the connections: mongos lets each command wait for its shard, and the command
 * holds a connection meanwhile. `MAX_COMMANDS` of a scope (a workspace, or an entry of a registry) run at once. Once one of
 * them has found its shard unavailable, the scope shares as many with all such scopes, until one of them succeeds.
 */
export class Bulkhead {
  private readonly queues = new Map<string, Queue>();
  private readonly unavailable = new Set<string>();
  private readonly ofUnavailable = new Queue();

  /** Does `work` as soon as it may. Rejects with `DatabaseAway` if that is not within `MAX_WAIT_MS`. */
  async run<T>(scope: string, work: () => Promise<T>): Promise<T> {
    const queue = this.unavailable.has(scope) ? this.ofUnavailable : (this.queues.get(scope) ?? new Queue());
    if (queue !== this.ofUnavailable) this.queues.set(scope, queue);
    await queue.enter();
    try {
      const result = await work();
      this.unavailable.delete(scope);
      return result;
    } catch (error) {
      const isUnavailable = isShardUnavailable(error) || error instanceof Blocked;
      if (isUnavailable && this.unavailable.size < MAX_UNAVAILABLE) this.unavailable.add(scope);
      throw error;
    } finally {
      queue.leave();
      if (queue.isEmpty) this.queues.delete(scope);
    }
  }
}

/** Lets `MAX_COMMANDS` run at once, and the others wait in the order of their arrival. */
class Queue {
  private running = 0;
  private readonly waiting = new Set<() => void>();

  get isEmpty(): boolean {
    return this.running === 0;
  }

  async enter(): Promise<void> {
    if (this.running < MAX_COMMANDS) {
      this.running++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(start);
        reject(new DatabaseAway('A shard of MongoDB cannot be reached'));
      }, MAX_WAIT_MS);
      const start = () => {
        clearTimeout(timer);
        resolve();
      };
      this.waiting.add(start);
    });
  }

  leave(): void {
    const [next] = this.waiting;
    if (!next) {
      this.running--;
      return;
    }
    this.waiting.delete(next);
    next();
  }
}
