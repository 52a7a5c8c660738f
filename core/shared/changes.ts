import { formatTimestamp } from './date.ts';

/** Fields of an entity that can be set. Omitted fields keep their value, or get the default on creation. */
export type Changes<T> = { readonly [F in keyof T]?: T[F] | undefined };

/**
 * Returns the defaults of only the omitted or `undefined` fields. Spread after the fields, they override no other
 * field.
 */
export function selectMissingDefaults<F extends object, D extends Partial<F>>(
  defaults: D,
  fields: F,
): { [N in keyof D & keyof F]: Exclude<F[N], undefined> } {
  const selected: Partial<D> = {};
  for (const field of Object.keys(defaults) as (keyof D & keyof F)[]) {
    if (fields[field] === undefined) selected[field] = defaults[field];
  }
  return selected as never;
}

/**
 * Returns the entity with the given fields changed and `updatedAt` set. Fields that are `undefined` keep their value.
 * If nothing changes, returns the same object. `updatedAt` never decreases, even if a concurrent change that started
 * later was stored first.
 */
export function applyChanges<T extends { readonly updatedAt: string }>(
  entity: T,
  fields: Changes<NoInfer<T>>,
  now: number,
): T {
  const changed = Object.entries(fields).filter(
    ([field, value]) => value !== undefined && !isSameValue(value, entity[field as keyof T]),
  );
  if (changed.length === 0) return entity;
  const nowText = formatTimestamp(now);
  const updatedAt = nowText > entity.updatedAt ? nowText : entity.updatedAt;
  return { ...entity, ...Object.fromEntries(changed), updatedAt };
}

/** Returns whether two JSON values are equal. A field that is `undefined` equals a missing one. */
export function isSameValue(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [one, other] = [a, b] as [Record<string, unknown>, Record<string, unknown>];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every((key) => isSameValue(one[key], other[key]));
}
