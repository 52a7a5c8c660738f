import type { Entity, Field, Query, RecordStore } from './record-store.ts';

/** Which part of a listing is asked for; a `limit` ends the listing after so many records, counted over all pages. */
export interface PageRequest {
  readonly page: number;
  readonly pageSize: number;
  readonly limit?: number | undefined;
}

/** `hasNext`: whether another page holds something. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly hasNext: boolean;
}

/** The most items of a page, of each list. */
export const PAGE_SIZES = { campaigns: 25, inspirationQuestions: 100, contentPillars: 100, domains: 50 } as const;
export const DEFAULT_PAGE_SIZE = 50;

type Listing<T, F extends Field<T>> = Omit<Query<T, F>, 'skip' | 'take'>;

/** Reads one page of a listing. It asks for one record more than the page holds, to know whether another follows. */
export async function readPage<T extends Entity, F extends Field<T> = Field<T>>(
  records: RecordStore<T>,
  workspaceId: string,
  listing: Listing<T, F>,
  { page, pageSize, limit = Number.POSITIVE_INFINITY }: PageRequest,
): Promise<Page<Pick<T, F>>> {
  const skip = (page - 1) * pageSize;
  const size = Math.min(pageSize, limit - skip);
  if (size <= 0) return { items: [], hasNext: false };
  const found = await records.list(workspaceId, { ...listing, skip, take: size + 1 });
  return { items: found.slice(0, size), hasNext: found.length > size && skip + size < limit };
}
