import { formatTimestamp } from '../shared/date.ts';

/** The isolated data of one company. All other records belong to one workspace, except the secrets of `VisitorKeyRepository`. */
export interface Workspace {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

export function newWorkspace(id: string, name: string, now: number): Workspace {
  return { id, name, createdAt: formatTimestamp(now) };
}

/** Bounds of the length of a name. */
export const WORKSPACE_NAME_LENGTH = { min: 1, max: 190 };
