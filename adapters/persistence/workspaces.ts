import type { Workspace } from '../../core/workspace/workspace.ts';
import type { WorkspaceRepository } from '../../core/workspace/workspace-repository.ts';
import { iterateGlobal } from './iterate-by-id.ts';
import type { GlobalRecordStore } from './record-store.ts';

export function createWorkspaceRepository(store: GlobalRecordStore<Workspace>): WorkspaceRepository {
  return {
    findById: (id) => store.get(id),
    iterate: () => iterateGlobal(store),
    add: (workspace) => store.add(workspace),
  };
}
