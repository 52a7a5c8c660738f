/**
 * An object of a workspace, such as a campaign. Its ID is unique among all entities of its type, over all workspaces.
 */
export interface Entity {
  readonly id: string;
  readonly workspaceId: string;
}
