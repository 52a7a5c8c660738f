import type { Entity } from '../../core/shared/entity.ts';
import type { RecordSchema } from './record-store.ts';

/**
 * How the entities of one type are stored. A record has the fields of its entity and derived columns, such as a folded name or
 * the text that searches scan. The columns are computed on each write, and removed when a record is read.
 */
export interface Schema<T extends Entity, D extends object> extends RecordSchema<T & D> {
  readonly derived: { readonly [C in keyof D]: (entity: T) => D[C] };
  /** The values of fields that records of earlier versions lack (docs/adr/0003-repositories.md). */
  readonly defaults: Partial<T>;
}

/** Declares the schema of a type of entity. */
export function defineSchema<T extends Entity, D extends object = Record<never, never>>(
  options: Partial<Schema<T, D>> & (keyof D extends never ? unknown : Pick<Schema<T, D>, 'derived'>),
): Schema<T, D> {
  const empty = { columns: {}, unique: {}, indexes: [], defaults: {} };
  return { ...empty, derived: {} as Schema<T, D>['derived'], ...options };
}
