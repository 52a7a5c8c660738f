import { timestamp } from './date.ts';

/**
 * A record with the given fields changed: fields that are `undefined` stay, and where every value equals the stored
 * one the record itself is returned, `updatedAt` included. That never goes back, for of changes at the same time the last to
 * be made need not be the last that was asked for.
 */
export function withChanges<T extends { readonly updatedAt: string }>(
  record: T,
  fields: { readonly [F in keyof T]?: T[F] | undefined },
  now: number,
): T {
  const different = Object.entries(fields).filter(
    ([field, value]) => value !== undefined && !sameValue(value, record[field as keyof T]),
  );
  if (different.length === 0) return record;
  const at = timestamp(now);
  return { ...record, ...Object.fromEntries(different), updatedAt: at > record.updatedAt ? at : record.updatedAt };
}

function sameValue(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => item === b[i]);
  return a === b;
}
