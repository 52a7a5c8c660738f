import { MAX_SLUG_INPUT_LENGTH, MAX_SLUG_LENGTH } from '../limits.ts';
import type { Changes } from '../shared/changes.ts';
import { formatTimestamp } from '../shared/date.ts';
import type { Entity } from '../shared/entity.ts';

/** A custom domain for short links. `liveSince` is the time at which it was created or last unarchived. */
export interface Domain extends Entity {
  readonly slug: string;
  readonly verified: boolean;
  readonly archived: boolean;
  readonly placeholder: string;
  readonly expiredUrl: string;
  readonly notFoundUrl: string;
  readonly liveSince: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The fields of a domain to create, archive or unarchive. The slug must be normalized. */
export type DomainRequest = Pick<Domain, 'slug'> & Changes<Pick<Domain, 'expiredUrl' | 'archived' | 'placeholder'>>;

export type DomainChange = Changes<Pick<Domain, 'expiredUrl' | 'notFoundUrl' | 'placeholder' | 'archived'>>;

export const DOMAIN_TAKEN = [
  'This workspace already has this domain. To archive or unarchive it, also send `archived`.',
  'domain_taken',
] as const;

export function newDomain(workspaceId: string, id: string, request: DomainRequest, now: number): Domain {
  const { slug, expiredUrl = '', archived = false, placeholder = `https://${slug}/your-link` } = request;
  const createdAt = formatTimestamp(now);
  return {
    id,
    workspaceId,
    slug,
    verified: false,
    archived,
    placeholder,
    expiredUrl,
    notFoundUrl: '',
    liveSince: createdAt,
    createdAt,
    updatedAt: createdAt,
  };
}

const FORBIDDEN_CHARACTER_PATTERN = /[\0-,/:-@[-\x60{-\x7f]/;
const LABEL_PATTERN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Returns the normalized slug of a domain name. Returns `undefined` if the text is not a domain name, is too long, is
 * an IP address or starts with `www.`. The name is trimmed and lower-cased, converted to its ASCII form, and one
 * trailing dot is dropped. `toAscii` converts to ASCII (IDNA, UTS #46), and returns `''` for an invalid name.
 */
export function normalizeSlug(text: string, toAscii: (name: string) => string): string | undefined {
  const trimmed = text.trim();
  if (trimmed.length > MAX_SLUG_INPUT_LENGTH) return undefined;
  // Lower-case each letter separately: in a whole string, the letters around a Σ decide between σ and ς.
  const name = Array.from(trimmed, (letter) => letter.toLowerCase()).join('');
  if (FORBIDDEN_CHARACTER_PATTERN.test(name)) return undefined;
  const slug = toAscii(name).replace(/\.$/, '');
  const labels = slug.split('.');
  const isName =
    labels.length >= 2 && labels.every((label) => LABEL_PATTERN.test(label)) && !/^\d+$/.test(labels.at(-1) as string);
  return isName && slug.length <= MAX_SLUG_LENGTH && !slug.startsWith('www.') ? slug : undefined;
}
