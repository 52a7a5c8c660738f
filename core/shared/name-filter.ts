import type { Order } from './page.ts';

/** The fields by which lists of groups and of tags can be sorted. */
export const NAME_SORTS = ['name', 'createdAt'] as const;

/** The search term and the order of a list of groups or tags. */
export interface NameFilter {
  readonly search?: string | undefined;
  readonly sortBy: (typeof NAME_SORTS)[number];
  readonly sortOrder: Order;
}
