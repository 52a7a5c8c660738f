import { CoreError } from '../shared/core-error.ts';
import { formatTimestamp } from '../shared/date.ts';
import type { System } from '../shared/system.ts';
import type { Workspace } from './workspace.ts';
import type { WorkspaceRepository } from './workspace-repository.ts';

/** The use cases of workspaces. */
export class WorkspaceService {
  constructor(
    private readonly workspaces: WorkspaceRepository,
    private readonly system: System,
  ) {}

  async create(name: string): Promise<Workspace> {
    const workspace = { id: this.system.newId(), name, createdAt: formatTimestamp(this.system.now()) };
    await this.workspaces.add(workspace);
    return workspace;
  }

  /** Returns a workspace. Rejects with `not_found` if it does not exist. */
  async get(id: string): Promise<Workspace> {
    const workspace = await this.workspaces.findById(id);
    if (!workspace) throw new CoreError('not_found', 'No workspace has this id. Check the id.');
    return workspace;
  }

  /** Iterates over all workspaces in creation order. */
  iterate(): AsyncIterable<Workspace> {
    return this.workspaces.iterate();
  }
}
