/** The page to read. `page` is its number, from 1. `limit` is the maximum number of records over all pages. */
export interface PageRequest {
  readonly page: number;
  readonly pageSize: number;
  readonly limit?: number | undefined;
  /** Returns whether nobody waits for the page any more. Then a storage may stop reading, and reject. */
  readonly isAbandoned?: (() => boolean) | undefined;
}

/** A page of a list. `hasNext` says whether the next page has an item. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly hasNext: boolean;
}

export type Order = 'asc' | 'desc';
