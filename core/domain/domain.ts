import type { Entity, GlobalRecordStore, RecordSchema, RecordStore } from '../shared/record-store.ts';

/** A custom domain for short links. `liveSince`: when it was made live or last unarchived. */
export interface Domain extends Entity {
  readonly slug: string;
  readonly verified: boolean;
  readonly archived: boolean;
  readonly placeholder: string;
  readonly expiredUrl: string;
  readonly notFoundUrl: string;
  readonly liveSince: string;
  readonly searchText: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type DomainRepository = RecordStore<Domain>;

export const domainSchema: RecordSchema<Domain> = {
  name: 'domains',
  unique: { slug: 'The workspace has this domain: send `archived` too to archive or unarchive it.' },
  indexes: [
    ['archived', 'createdAt'],
    ['archived', 'liveSince'],
  ],
};

/** The workspace that holds a slug: it has the slug verified in a live domain. */
export interface VerifiedSlug {
  readonly id: string;
  readonly workspaceId: string;
  readonly domainId: string;
}

export type VerifiedSlugStore = GlobalRecordStore<VerifiedSlug>;

export const MAX_SLUG_LENGTH = 190;
/** Far above what 190 characters of ASCII can stand for; what is longer is not converted, for that takes its time. */
const MAX_TEXT_LENGTH = 1000;
const OUTSIDE_HOST_NAMES = /[\0-,/:-@[-`{-\x7f]/;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * The normal form of a domain name: trimmed, each letter lower-cased by itself (what stands around a Σ makes no other
 * name of it), in its ASCII form (IDNA; `toAscii` gives it, or `''`), one trailing dot dropped. `undefined` for what is
 * no domain name, is too long, an address, or begins with `www.`.
 */
export function normalSlug(text: string, toAscii: (name: string) => string): string | undefined {
  const trimmed = text.trim();
  if (trimmed.length > MAX_TEXT_LENGTH) return undefined;
  const name = Array.from(trimmed, (letter) => letter.toLowerCase()).join('');
  if (OUTSIDE_HOST_NAMES.test(name)) return undefined;
  const slug = toAscii(name).replace(/\.$/, '');
  const labels = slug.split('.');
  const isName =
    labels.length >= 2 && labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1) as string);
  return isName && slug.length <= MAX_SLUG_LENGTH && !slug.startsWith('www.') ? slug : undefined;
}

/** The example link of a domain for which none was given. */
export function defaultPlaceholder(slug: string): string {
  return `https://${slug}/your-link`;
}
