import { formatTimestamp } from '../shared/date.ts';

/** The isolated data of one company. All other records belong to one workspace, except the visitor keys. */
export interface Workspace {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

export function newWorkspace(id: string, name: string, now: number): Workspace {
  return { id, name, createdAt: formatTimestamp(now) };
}
