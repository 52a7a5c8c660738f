/**
 * An object of a workspace, such as a campaign. Its ID is unique among all entities of its type, over all workspaces.
 */
export interface Entity {
  readonly id: string;
  readonly workspaceId: string;
}

/** Returns entities by their IDs. */
export function indexById<T extends Pick<Entity, 'id'>>(entities: readonly T[]): ReadonlyMap<string, T> {
  return new Map(entities.map((entity) => [entity.id, entity]));
}
