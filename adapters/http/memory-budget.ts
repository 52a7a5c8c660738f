const MIB = 1024 * 1024;

/** What may be held for one workspace; and so much less where all together hold much. */
const MOST_OF_A_WORKSPACE = 32 * MIB;
const MUCH_OF_ALL = 128 * MIB;
const MOST_OF_A_WORKSPACE_THEN = 2 * MIB;

/** The memory, in bytes, that is held for workspaces while their clients are slow to send or to read. */
export class MemoryBudget {
  private readonly held = new Map<string, number>();
  private heldOfAll = 0;

  /** Holds more for a workspace, or, with a negative number, less. */
  hold(workspaceId: string, bytes: number): void {
    this.heldOfAll += bytes;
    const sum = (this.held.get(workspaceId) ?? 0) + bytes;
    if (sum > 0) this.held.set(workspaceId, sum);
    else this.held.delete(workspaceId);
  }

  /** Whether a workspace holds so much that it should get no more. */
  isSpent(workspaceId: string): boolean {
    const most = this.heldOfAll > MUCH_OF_ALL ? MOST_OF_A_WORKSPACE_THEN : MOST_OF_A_WORKSPACE;
    return (this.held.get(workspaceId) ?? 0) > most;
  }
}
