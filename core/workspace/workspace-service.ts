import { CoreError } from '../shared/core-error.ts';
import type { System } from '../shared/system.ts';
import { newWorkspace, type Workspace } from './workspace.ts';
import type { WorkspaceRepository } from './workspace-repository.ts';

export class WorkspaceService {
  constructor(
    private readonly workspaces: WorkspaceRepository,
    private readonly system: System,
  ) {}

  async create(name: string): Promise<Workspace> {
    const workspace = newWorkspace(this.system.newId(), name, this.system.now());
    await this.workspaces.add(workspace);
    return workspace;
  }

  async get(id: string): Promise<Workspace> {
    const workspace = await this.workspaces.findById(id);
    if (!workspace) throw new CoreError('not_found', 'No such workspace. Check the ID.');
    return workspace;
  }

  iterate(): AsyncIterable<Workspace> {
    return this.workspaces.iterate();
  }
}
