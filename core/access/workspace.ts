import type { GlobalRecordStore } from '../shared/record-store.ts';

/** A company's own space: every other record belongs to one. */
export interface Workspace {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

export const WORKSPACE_NAME = { min: 1, max: 190 };

export type WorkspaceStore = GlobalRecordStore<Workspace>;
