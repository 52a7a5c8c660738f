import type { Order } from './page.ts';
import type { LengthRange } from './text.ts';

/** The length of the name of a campaign, a group, a member, a tag or a workspace. */
export const NAME_LENGTH: LengthRange = { min: 1, max: 190 };

/** The fields by which lists of groups and of tags can be sorted. */
export const NAME_SORTS = ['name', 'createdAt'] as const;

/** The filter and the order of a list of groups or of tags. */
export interface NameFilter {
  /** A case-insensitive search term in the name. */
  readonly search?: string | undefined;
  readonly sortBy: (typeof NAME_SORTS)[number];
  readonly sortOrder: Order;
}
