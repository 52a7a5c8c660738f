const MIB = 1024 * 1024;

/** The maximum for one workspace. */
const MAX_WORKSPACE_BYTES = 32 * MIB;
/** If all workspaces together use more than this, `MAX_WORKSPACE_BYTES_UNDER_PRESSURE` applies to each of them. */
const PRESSURE_BYTES = 128 * MIB;
const MAX_WORKSPACE_BYTES_UNDER_PRESSURE = 2 * MIB;

/** Counts the bytes of memory that each workspace uses while its clients are slow to send or to read. */
export class MemoryBudget {
  private readonly reserved = new Map<string, number>();
  private totalReserved = 0;

  /** Adds bytes to the usage of a workspace. A negative number releases bytes. */
  reserve(workspaceId: string, bytes: number): void {
    this.totalReserved += bytes;
    const sum = (this.reserved.get(workspaceId) ?? 0) + bytes;
    if (sum > 0) this.reserved.set(workspaceId, sum);
    else this.reserved.delete(workspaceId);
  }

  /** Returns whether a workspace uses more than its maximum. */
  isExhausted(workspaceId: string): boolean {
    const maxBytes = this.totalReserved > PRESSURE_BYTES ? MAX_WORKSPACE_BYTES_UNDER_PRESSURE : MAX_WORKSPACE_BYTES;
    return (this.reserved.get(workspaceId) ?? 0) > maxBytes;
  }
}
