/** The isolated data of one company. Every other record belongs to one workspace, except those that hash visitors of links. */
export interface Workspace {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

/** Bounds of the length of a name. */
export const WORKSPACE_NAME_LENGTH = { min: 1, max: 190 };
