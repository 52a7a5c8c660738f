import type { Workspace } from './workspace.ts';

/** All workspaces. */
export interface WorkspaceRepository {
  findById(id: string): Promise<Workspace | undefined>;
  /** Iterates over all workspaces in the order of their creation. */
  iterate(): AsyncIterable<Workspace>;
  /** Adds a workspace. Rejects with `conflict` if the ID is taken. */
  add(workspace: Workspace): Promise<void>;
}
