import type { Entity } from '../../core/shared/entity.ts';
import type { Value } from './database.ts';

/** A record of any schema. */
export type AnyRecord = Entity & Readonly<Record<string, unknown>>;

/** Returns a value of a record as SQLite stores it. */
export function toValue(value: unknown): Value {
  return typeof value === 'boolean' ? Number(value) : ((value ?? null) as Value);
}
