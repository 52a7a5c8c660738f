import { DatabaseUnavailable, isShardUnavailable, LockTimeout } from './connection.ts';

/** The commands of a scope that run at the same time: a fifth of the connections of a client (connection.ts). */
const MAX_COMMAND_COUNT = 10;
const MAX_WAIT_MS = 10_000;
/** The scopes that are known to be unavailable. The bound limits the memory that an outage takes. */
const MAX_UNAVAILABLE_COUNT = 10_000;

/**
 * Prevents an unavailable shard from using all connections: mongos lets each command wait for its shard, and the command
 * occupies a connection until then. Of each scope (a workspace, or an entry of a registry), `MAX_COMMANDS_COUNT` commands
 * run at the same time. When a command finds its shard unavailable, its scope is unavailable until a command of it succeeds.
 * All unavailable scopes together run `MAX_COMMANDS_COUNT` commands.
 */
export class Bulkhead {
  private readonly queues = new Map<string, Queue>();
  private readonly unavailable = new Set<string>();
  private readonly ofUnavailable = new Queue();

  /** Runs `work` as soon as the scope allows it. Rejects with `DatabaseAway` if that takes longer than `MAX_WAIT_MS`. */
  async run<T>(scope: string, work: () => Promise<T>): Promise<T> {
    const queue = this.unavailable.has(scope) ? this.ofUnavailable : (this.queues.get(scope) ?? new Queue());
    if (queue !== this.ofUnavailable) this.queues.set(scope, queue);
    await queue.enter();
    try {
      const result = await work();
      this.unavailable.delete(scope);
      return result;
    } catch (error) {
      const isUnavailable = isShardUnavailable(error) || error instanceof LockTimeout;
      if (isUnavailable && this.unavailable.size < MAX_UNAVAILABLE_COUNT) this.unavailable.add(scope);
      throw error;
    } finally {
      queue.leave();
      if (queue.isEmpty && this.queues.get(scope) === queue) this.queues.delete(scope);
    }
  }
}

/** A queue that runs `MAX_COMMANDS_COUNT` commands at the same time. The others wait in the order of their arrival. */
class Queue {
  private running = 0;
  private readonly waiting = new Set<() => void>();

  get isEmpty(): boolean {
    return this.running === 0;
  }

  async enter(): Promise<void> {
    if (this.running < MAX_COMMAND_COUNT) {
      this.running++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(start);
        reject(new DatabaseUnavailable('A shard of MongoDB cannot be reached'));
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
