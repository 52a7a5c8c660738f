/** A record of a workspace. Its ID is unique among all records of its type, over all workspaces. */
export interface Entity {
  readonly id: string;
  readonly workspaceId: string;
}
