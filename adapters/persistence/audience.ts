/** The audience of a record that is not limited to groups. */
export const EVERYONE = 'everyone';

/**
 * Returns the derived column `audience`: the IDs of the groups of a record, or `EVERYONE`. Its index finds the records
 * of a group, and those that are available to a member.
 */
export function toAudience(groupIds: readonly string[]): readonly string[] {
  return groupIds.length === 0 ? [EVERYONE] : groupIds;
}
