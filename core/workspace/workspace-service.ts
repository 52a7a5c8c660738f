import { CoreError } from '../shared/core-error.ts';
import type { System } from '../shared/system.ts';
import type { Storage } from '../storage.ts';
import { newWorkspace, type Workspace } from './workspace.ts';

export class WorkspaceService {
  constructor(
    private readonly storage: Storage,
    private readonly system: System,
  ) {}

  async create(name: string): Promise<Workspace> {
    const workspace = newWorkspace(this.system.newId(), name, this.system.now());
    await this.storage.workspaces.add(workspace);
    return workspace;
  }

  async get(id: string): Promise<Workspace> {
    const workspace = await this.storage.workspaces.findById(id);
    if (!workspace) throw new CoreError('not_found', 'No workspace has this ID. Check the ID.');
    return workspace;
  }

  iterate(): AsyncIterable<Workspace> {
    return this.storage.workspaces.iterate();
  }
}
