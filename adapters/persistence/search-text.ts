import { fold } from '../../core/shared/text.ts';

/** The separator of the parts of a search text. No folded text or term contains it, because `fold` replaces it by σ. */
const SEPARATOR = 'ς';

/** Returns the folded text in which a search looks for a folded term. A term cannot match across two parts. */
export function buildSearchText(...parts: readonly string[]): string {
  return parts.map(fold).join(SEPARATOR);
}
