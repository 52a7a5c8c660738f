import { randomUUID } from 'node:crypto';
import type { Document } from 'mongodb';

/**
 * A record as a document. `_id` is the record's `id`. `revision` identifies the last write, so that a retry recognizes
 * the write of an earlier attempt.
 */
export type StoredDocument = Document & { readonly _id: string; readonly revision: string };

/** The field with the time after which MongoDB removes a document. */
export const EXPIRY_FIELD = 'expireAt';

/** Returns the document of a record, with a new revision. `expires` names the field with the expiry of the record. */
export function toDocument<T extends { readonly id: string }>(record: T, expires?: keyof T): StoredDocument {
  const { id, ...fields } = record;
  const expiry = expires === undefined ? {} : { [EXPIRY_FIELD]: new Date(record[expires] as number) };
  return { _id: id, ...fields, ...expiry, revision: randomUUID() };
}

export function toRecord<T>({ _id, revision: _, [EXPIRY_FIELD]: __, ...fields }: StoredDocument): T {
  return { id: _id, ...fields } as T;
}
