import { randomUUID } from 'node:crypto';
import { type Document, MinKey } from 'mongodb';
import type { AnyRecord } from '../persistence/record-store.ts';
import type { StoreSchema } from '../persistence/store-schemas.ts';

/**
 * A record as a document. `_id` is the record's `id`. `revision` identifies the last write, so that a retry recognizes
 * the write of an earlier attempt.
 */
export type StoredDocument = Document & { readonly _id: string; readonly revision: string };

/** The field with the time after which MongoDB removes a document. */
export const EXPIRY_FIELD = 'expireAt';

/**
 * Returns the value of a filter that finds a text. BSON would replace a lone surrogate by U+FFFD, and find another
 * text. Instead, such a text finds nothing: no document contains `MinKey`.
 */
export function toFilterText<T>(text: T): T {
  return typeof text !== 'string' || text.isWellFormed() ? text : (new MinKey() as T);
}

/**
 * Returns the document of a record, with a new revision. Throws if a field has a lone surrogate, which BSON cannot
 * store.
 */
export function toDocument(
  { id, ...fields }: { readonly id: string },
  { defaults, expires }: Pick<StoreSchema, 'defaults' | 'expires'>,
): StoredDocument {
  const complete: Readonly<Record<string, unknown>> = { ...defaults, ...fields };
  const values = Object.values(complete).flatMap((value) => (value instanceof Object ? Object.values(value) : [value]));
  for (const value of [id, ...values]) {
    if (toFilterText(value) !== value) throw new Error('A text with a lone surrogate cannot be stored.');
  }
  const expiry = expires === undefined ? {} : { [EXPIRY_FIELD]: new Date(complete[expires] as number) };
  return { _id: id, ...complete, ...expiry, revision: randomUUID() };
}

export function toRecord({ _id, revision: _, [EXPIRY_FIELD]: __, ...fields }: StoredDocument): AnyRecord {
  return { id: _id, ...fields } as unknown as AnyRecord;
}
