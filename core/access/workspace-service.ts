import { CoreError } from '../shared/core-error.ts';
import { timestamp } from '../shared/date.ts';
import { iterateById } from '../shared/iterate-by-id.ts';
import type { System } from '../shared/system.ts';
import type { Workspace, WorkspaceStore } from './workspace.ts';

export class WorkspaceService {
  constructor(
    private readonly workspaces: WorkspaceStore,
    private readonly system: System,
  ) {}

  async create(name: string): Promise<Workspace> {
    const workspace = { id: this.system.newId(), name, createdAt: timestamp(this.system.now()) };
    await this.workspaces.add(workspace);
    return workspace;
  }

  async get(id: string): Promise<Workspace> {
    const workspace = await this.workspaces.get(id);
    if (!workspace) throw new CoreError('not_found', 'There is no workspace with this id.');
    return workspace;
  }

  /** Every workspace, in the order of their making. */
  iterate(): AsyncIterable<Workspace> {
    return iterateById((after, take) => this.workspaces.list(after, take));
  }
}
