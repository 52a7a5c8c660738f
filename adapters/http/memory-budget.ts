const MIB = 1024 * 1024;

/** What may be held for one workspace; and so much less where all together hold much. */
const MAX_WORKSPACE_BYTES = 32 * MIB;
const PRESSURE_BYTES = 128 * MIB;
const MAX_WORKSPACE_BYTES_UNDER_PRESSURE = 2 * MIB;

/** The memory, in bytes, that is held for workspaces while their clients are slow to send or to read. */
export class MemoryBudget {
  private readonly reserved = new Map<string, number>();
  private totalReserved = 0;

  /** Holds more for a workspace, or, with a negative number, less. */
  reserve(workspaceId: string, bytes: number): void {
    this.totalReserved += bytes;
    const sum = (this.reserved.get(workspaceId) ?? 0) + bytes;
    if (sum > 0) this.reserved.set(workspaceId, sum);
    else this.reserved.delete(workspaceId);
  }

  /** Whether a workspace holds so much that it should get no more. */
  isExhausted(workspaceId: string): boolean {
    const most = this.totalReserved > PRESSURE_BYTES ? MAX_WORKSPACE_BYTES_UNDER_PRESSURE : MAX_WORKSPACE_BYTES;
    return (this.reserved.get(workspaceId) ?? 0) > most;
  }
}
