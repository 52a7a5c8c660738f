import { createTransientError } from '../errors.ts';

/** The memory that all workspaces may use together. */
const MAX_BYTES = 128 * 1024 * 1024;

const MEMORY_ERROR = createTransientError(
  'rate_limit_exceeded',
  'Your workspace sends request bodies or reads responses too slowly. Send fewer requests at the same time.',
  'overload',
);

/** Counts the bytes that are kept in memory for each workspace while its clients are slow to send or to read. */
export class MemoryBudget {
  private readonly usedBytes = new Map<string, number>();
  private totalBytes = 0;

  /** Adds bytes to the usage of a workspace. A negative number releases bytes. */
  reserve(workspaceId: string, bytes: number): void {
    this.totalBytes += bytes;
    const used = (this.usedBytes.get(workspaceId) ?? 0) + bytes;
    if (used > 0) this.usedBytes.set(workspaceId, used);
    else this.usedBytes.delete(workspaceId);
  }

  /**
   * Returns an overload error if the budget is exceeded and the workspace uses much of it: at least the average of all
   * workspaces that use memory. So a workspace that uses little memory is not affected by the others.
   */
  findError(workspaceId: string): Error | undefined {
    if (this.totalBytes <= MAX_BYTES) return undefined;
    const used = this.usedBytes.get(workspaceId) ?? 0;
    return used >= this.totalBytes / this.usedBytes.size ? MEMORY_ERROR : undefined;
  }
}
