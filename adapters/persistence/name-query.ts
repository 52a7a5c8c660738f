import type { NameFilter } from '../../core/shared/name-filter.ts';
import { fold } from '../../core/shared/text.ts';
import type { Condition } from './record-store.ts';

/**
 * The derived column of groups and of tags: the name as `fold` returns it. Names are unique, sorted and searched in
 * this form.
 */
export interface NameColumns {
  readonly foldedName: string;
}

const nameSortColumns = { name: 'foldedName', createdAt: 'createdAt' } as const;

/** Returns the query of a list of groups or of tags. */
export function toNameQuery<R extends NameColumns>({ search, sortBy, sortOrder }: NameFilter) {
  const where: Condition<R>[] = search ? [{ field: 'foldedName', contains: fold(search) }] : [];
  return { where, by: nameSortColumns[sortBy], order: sortOrder };
}
