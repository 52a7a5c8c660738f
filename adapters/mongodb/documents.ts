import { randomUUID } from 'node:crypto';
import type { Stored } from './query.ts';

/** The field after whose moment MongoDB removes a document. */
export const EXPIRY = 'expireAt';

/** A record as it is written, under a new revision. */
export function documentOf<T extends { readonly id: string }>(record: T, expires?: keyof T): Stored {
  const { id, ...fields } = record;
  const expiry = expires === undefined ? {} : { [EXPIRY]: new Date(record[expires] as number) };
  return { _id: id, ...fields, ...expiry, revision: randomUUID() };
}

export function recordOf<T>({ _id, revision: _, [EXPIRY]: __, ...fields }: Stored): T {
  return { id: _id, ...fields } as T;
}
