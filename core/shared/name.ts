import type { Order } from './page.ts';
import type { LengthRange } from './text.ts';

/** The length of the name of a campaign, a group, a member, a tag or a workspace. */
export const NAME_LENGTH: LengthRange = { min: 1, max: 190 };

/** The fields by which lists of groups and of tags can be sorted. */
export const NAME_SORTS = ['name', 'createdAt'] as const;

export interface NameFilter {
  readonly search?: string | undefined;
  readonly sortBy: (typeof NAME_SORTS)[number];
  readonly sortOrder: Order;
}
