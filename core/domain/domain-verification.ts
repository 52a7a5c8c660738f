import type { Domain } from './domain.ts';
import type { DomainRecordLookup, TxtRecords } from './domain-records.ts';

/** The record that proves the control of a domain. */
export interface ExpectedRecord {
  readonly type: 'TXT';
  readonly name: string;
  readonly value: string;
}

/** Returns the record that proves that the workspace of a domain controls it. */
export function getExpectedRecord({ id, slug }: Pick<Domain, 'id' | 'slug'>): ExpectedRecord {
  return { type: 'TXT', name: `_advocacy-challenge.${slug}`, value: id };
}

/**
 * Returns a sentence that says why a lookup does not prove the control of a domain, or `''` if it does. The records of
 * the lookup never become a part of the sentence.
 */
export function findVerificationProblem(
  { name, value }: ExpectedRecord,
  lookup: Exclude<DomainRecordLookup, { readonly outcome: 'busy' }>,
): string {
  switch (lookup.outcome) {
    case 'found':
      return hasValue(lookup.records, value) ? '' : describeMismatch(name, lookup.records.length);
    case 'none':
      return `There is no TXT record at ${name}. Create the record, or wait until the name servers show it.`;
    case 'failed':
      return `The name servers did not answer for ${name} (${lookup.code}). Try again in a moment.`;
  }
}

function describeMismatch(name: string, count: number): string {
  const records = count === 1 ? '1 TXT record' : `${count} TXT records`;
  return `Found ${records} at ${name}, but none matches. Add a record with the expected value.`;
}

/**
 * Returns whether one of the records has this value, case-insensitively. The strings of a record are joined. White
 * space and quotes around a value are ignored, because some forms of DNS providers store what was pasted.
 */
function hasValue(records: TxtRecords, value: string): boolean {
  return records.some(
    (strings) =>
      strings
        .join('')
        .replace(/^[\s"']+|[\s"']+$/g, '')
        .toLowerCase() === value.toLowerCase(),
  );
}
