import { formatTimestamp } from './date.ts';

/**
 * Returns the record with the given fields changed and `updatedAt` set. Fields that are `undefined` keep their value. If
 * nothing changes, it returns the same record. `updatedAt` never decreases: of concurrent changes, the last one to be
 * stored may have started first.
 */
export function applyChanges<T extends { readonly updatedAt: string }>(
  record: T,
  fields: { readonly [F in keyof T]?: T[F] | undefined },
  now: number,
): T {
  const changed = Object.entries(fields).filter(
    ([field, value]) => value !== undefined && !isSameValue(value, record[field as keyof T]),
  );
  if (changed.length === 0) return record;
  const nowText = formatTimestamp(now);
  const updatedAt = nowText > record.updatedAt ? nowText : record.updatedAt;
  return { ...record, ...Object.fromEntries(changed), updatedAt };
}

function isSameValue(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => item === b[i]);
  return a === b;
}
