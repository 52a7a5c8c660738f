import { timestamp } from '../shared/date.ts';
import { DomainError } from '../shared/error.ts';
import type { System } from '../shared/system.ts';
import { walk } from '../shared/walk.ts';
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

  async get(id: string): Promise<Workspace> {
    const workspace = await this.workspaces.get(id);
    if (!workspace) throw new DomainError('not_found', 'There is no workspace with this id.');
    return workspace;
  }

  /** Every workspace, in the order of their making. */
  all(): AsyncIterable<Workspace> {
    return walk((after, take) => this.workspaces.list(after, take));
  }
}
