import type { Entity, Field, Query, RecordStore } from './record-store.ts';

/** The page to read. `page` is its number, from 1. `limit` is the maximum number of records over all pages. */
export interface PageRequest {
  readonly page: number;
  readonly pageSize: number;
  readonly limit?: number | undefined;
}

/** A page of a list. `hasNext` says whether the next page has an item. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly hasNext: boolean;
}

/** The maximum page size of each list. */
export const MAX_PAGE_SIZES = { campaigns: 25, inspirationQuestions: 100, contentPillars: 100, domains: 50 } as const;
/** The default page size of all lists except campaigns, whose default is their maximum. */
export const DEFAULT_PAGE_SIZE = 50;

type ListQuery<T, F extends Field<T>> = Omit<Query<T, F>, 'skip' | 'take'>;

/** Reads one page of a list. It reads one record more than the page size, to know whether another page follows. */
export async function readPage<T extends Entity, F extends Field<T> = Field<T>>(
  records: RecordStore<T>,
  workspaceId: string,
  query: ListQuery<T, F>,
  { page, pageSize, limit = Number.POSITIVE_INFINITY }: PageRequest,
): Promise<Page<Pick<T, F>>> {
  const skip = (page - 1) * pageSize;
  const itemCount = Math.min(pageSize, limit - skip);
  if (itemCount <= 0) return { items: [], hasNext: false };
  const found = await records.list(workspaceId, { ...query, skip, take: itemCount + 1 });
  return { items: found.slice(0, itemCount), hasNext: found.length > itemCount && skip + itemCount < limit };
}
