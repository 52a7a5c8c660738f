import type { Registry } from '../shared/records.ts';

/** A company's own space: every other record belongs to one. */
export interface Workspace {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

export type WorkspaceRegistry = Registry<Workspace>;
