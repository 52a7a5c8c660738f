/** The audience of a record that is not limited to groups. */
export const EVERYONE = 'everyone';

/** Returns the derived column `audience`: the IDs of the groups of a record, or `EVERYONE`. */
export function toAudience(groupIds: readonly string[]): readonly string[] {
  return groupIds.length === 0 ? [EVERYONE] : groupIds;
}
