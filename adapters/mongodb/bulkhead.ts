import { STORAGE_TIMEOUT_MS } from '../../core/storage.ts';
import { MAX_POOL_SIZE } from './client.ts';
import { DatabaseUnavailable, isShardUnavailable, LockTimeout } from './errors.ts';

/** The maximum number of commands of a scope (see `Bulkhead`) that run at the same time: a fifth of the connections to a server. */
const MAX_RUNNING_COUNT = MAX_POOL_SIZE / 5;
/** The maximum number of scopes that are marked as unavailable. It bounds the memory that an outage takes. */
const MAX_UNAVAILABLE_SCOPE_COUNT = 10_000;

/**
 * Prevents an unavailable shard from using all connections: mongos lets each command wait for its shard, and meanwhile the command
 * occupies a connection. At most `MAX_RUNNING_COUNT` commands of a scope (a workspace, or a record of a global store)
 * run at the same time. When a command finds its shard unavailable, or exceeds its time limit, its scope is marked as unavailable until
 * one of the scope's commands succeeds. At most `MAX_RUNNING_COUNT` commands of all unavailable scopes together run at the same time.
 */
export class Bulkhead {
  private readonly queuesByScope = new Map<string, Queue>();
  private readonly unavailableScopes = new Set<string>();
  private readonly unavailableQueue = new Queue();

  /** Runs `work` when the scope allows it. Rejects with `DatabaseUnavailable` if `work` would wait longer than `STORAGE_TIMEOUT_MS`. */
  async run<T>(scope: string, work: () => Promise<T>): Promise<T> {
    const queue = this.unavailableScopes.has(scope)
      ? this.unavailableQueue
      : (this.queuesByScope.get(scope) ?? new Queue());
    if (queue !== this.unavailableQueue) this.queuesByScope.set(scope, queue);
    await queue.enter();
    try {
      const result = await work();
      this.unavailableScopes.delete(scope);
      return result;
    } catch (error) {
      const isUnavailable = isShardUnavailable(error) || error instanceof LockTimeout;
      if (isUnavailable && this.unavailableScopes.size < MAX_UNAVAILABLE_SCOPE_COUNT) this.unavailableScopes.add(scope);
      throw error;
    } finally {
      queue.leave();
      if (queue.isEmpty && this.queuesByScope.get(scope) === queue) this.queuesByScope.delete(scope);
    }
  }
}

/** A queue that runs at most `MAX_RUNNING_COUNT` commands at the same time. The others wait in the order of their arrival. */
class Queue {
  private runningCount = 0;
  private readonly waiting = new Set<() => void>();

  get isEmpty(): boolean {
    return this.runningCount === 0;
  }

  async enter(): Promise<void> {
    if (this.runningCount < MAX_RUNNING_COUNT) {
      this.runningCount++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(start);
        reject(new DatabaseUnavailable('A shard of MongoDB is unavailable'));
      }, STORAGE_TIMEOUT_MS);
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
      this.runningCount--;
      return;
    }
    this.waiting.delete(next);
    next();
  }
}
