import { DEFAULT_ANALYTICS_DAYS, DEFAULT_PAGE_SIZE, MAX_ANALYTICS_DAYS } from '../limits.ts';
import { createInvalidFieldsError, type FieldError } from '../shared/core-error.ts';
import { DAY_MS, formatDay } from '../shared/date.ts';
import type { Order } from '../shared/page.ts';

export const ANALYTICS_GROUPINGS = ['total', 'day', 'campaign', 'member', 'group', 'tag'] as const;
export const ANALYTICS_SORTS = ['key', 'shares', 'clicks', 'rewards'] as const;

export type AnalyticsGrouping = (typeof ANALYTICS_GROUPINGS)[number];
export type AnalyticsSort = (typeof ANALYTICS_SORTS)[number];

/** The query of the figures of a workspace. `from` and `to` are days in UTC, both included. */
export interface AnalyticsQuery {
  readonly groupBy: AnalyticsGrouping;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly campaignIds?: readonly string[] | undefined;
  readonly memberIds?: readonly string[] | undefined;
  readonly groupIds?: readonly string[] | undefined;
  readonly tagIds?: readonly string[] | undefined;
  readonly sortBy?: AnalyticsSort | undefined;
  readonly sortOrder?: Order | undefined;
  readonly page: number;
  readonly pageSize?: number | undefined;
  /** As in `PageRequest`. */
  readonly isAbandoned?: (() => boolean) | undefined;
}

/** The sums for one key, while they are added up. The key is a day, the ID of a record, or empty for the total. */
export interface Figures {
  readonly key: string;
  shares: number;
  clicks: number;
  rewards: bigint;
}

/** Sums with the name of the record. `name` is empty for a day and the total, and for a deleted record. */
export type AnalyticsRow = Omit<Figures, 'rewards'> & { readonly name: string; readonly rewards: string };

export const RANGE_ERROR: FieldError = {
  path: 'to',
  problem: `must not be before from, or more than ${MAX_ANALYTICS_DAYS - 1} days after it`,
};

/** Returns whether a range has at least one day, and not too many. A range without one of its bounds is allowed. */
export function isRangeAllowed({ from = '', to = '' }: Pick<AnalyticsQuery, 'from' | 'to'>): boolean {
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS;
  return !(days < 0 || days >= MAX_ANALYTICS_DAYS);
}

/**
 * Returns the days of a query, its order and its page size, with the defaults of omitted parameters. Throws `invalid`
 * if the range of days is empty or too long.
 */
export function completeAnalyticsQuery(query: AnalyticsQuery, today: string) {
  const { groupBy, to = today } = query;
  const { from = formatDay(Date.parse(to) - (DEFAULT_ANALYTICS_DAYS - 1) * DAY_MS) } = query;
  if (!isRangeAllowed({ from, to })) throw createInvalidFieldsError([RANGE_ERROR]);
  const { sortBy = groupBy === 'day' ? 'key' : 'clicks' } = query;
  const { sortOrder = sortBy === 'key' ? 'asc' : 'desc' } = query;
  const { pageSize = groupBy === 'day' ? MAX_ANALYTICS_DAYS : DEFAULT_PAGE_SIZE } = query;
  const days: string[] = [];
  for (let time = Date.parse(from); time <= Date.parse(to); time += DAY_MS) days.push(formatDay(time));
  return { ...query, days, sortBy, sortOrder, pageSize };
}

/** Adds sums to those of a key. */
export function addFigures(
  figures: Map<string, Figures>,
  key: string,
  { shares, clicks, rewards }: Omit<Figures, 'key'>,
): void {
  const current = figures.get(key) ?? { key, shares: 0, clicks: 0, rewards: 0n };
  current.shares += shares;
  current.clicks += clicks;
  current.rewards += rewards;
  figures.set(key, current);
}

/** Returns a function that compares sums for an order. Equal sums are in the order of their keys. */
export function createComparison(sortBy: AnalyticsSort, sortOrder: Order): (a: Figures, b: Figures) => number {
  const direction = sortOrder === 'asc' ? 1 : -1;
  return (a, b) => direction * (compare(a[sortBy], b[sortBy]) || compare(a.key, b.key));
}

function compare(a: string | number | bigint, b: string | number | bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
