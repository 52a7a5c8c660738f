import { randomUUID } from 'node:crypto';
import type { Document } from 'mongodb';

/** A record as a document: `id` is its `_id`; `revision` names the last write, so that a retry knows its own. */
export type StoredDocument = Document & { readonly _id: string; readonly revision: string };

/** The field after whose moment MongoDB removes a document. */
export const EXPIRY = 'expireAt';

/** A record as it is written, under a new revision. */
export function toDocument<T extends { readonly id: string }>(record: T, expires?: keyof T): StoredDocument {
  const { id, ...fields } = record;
  const expiry = expires === undefined ? {} : { [EXPIRY]: new Date(record[expires] as number) };
  return { _id: id, ...fields, ...expiry, revision: randomUUID() };
}

export function toRecord<T>({ _id, revision: _, [EXPIRY]: __, ...fields }: StoredDocument): T {
  return { id: _id, ...fields } as T;
}
