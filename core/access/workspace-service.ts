import { timestamp } from '../shared/date.ts';
import type { System } from '../shared/system.ts';
import type { Workspace, WorkspaceRegistry } from './workspace.ts';

export class WorkspaceService {
  constructor(
    private readonly workspaces: WorkspaceRegistry,
    private readonly system: System,
  ) {}

  async create(name: string): Promise<Workspace> {
    const workspace = { id: this.system.newId(), name, createdAt: timestamp(this.system.now()) };
    await this.workspaces.add(workspace);
    return workspace;
  }
}
