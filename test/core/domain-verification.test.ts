import assert from 'node:assert/strict';
import type { TxtRecords } from '../../core/domain/domain-records.ts';
import { findVerificationProblem, getExpectedRecord } from '../../core/domain/domain-verification.ts';
import { each, textCases } from '../support/each.ts';
import { suite } from '../support/suite.ts';

const ID = '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e03';
const NAME = '_advocacy-challenge.links.example.com';
const expected = getExpectedRecord({ id: ID, slug: 'links.example.com' });

const describeFound = (...records: TxtRecords) => findVerificationProblem(expected, { outcome: 'found', records });

/** The strings of TXT records that prove the control of the domain. */
const matching: Readonly<Record<string, readonly string[]>> = {
  'the ID': [ID],
  'the ID in upper case': [ID.toUpperCase()],
  'several strings': [ID.slice(0, 1), '', ID.slice(1, 20), ID.slice(20)],
  'white space around': [` \t${ID}\n`],
  'double quotes around': [`"${ID}"`],
  'single quotes around': [`'${ID}'`],
  'spaces and quotes of both kinds around': [` "' ${ID} '" `],
  'a quote in a string of its own': ['"', ID, '"'],
};

const notMatching: Readonly<Record<string, readonly string[]>> = {
  'no strings': [],
  'an empty text': [''],
  'only quotes and spaces': ['"" \'\''],
  'another ID': [ID.replace('3', '4')],
  'the ID without its end': [ID.slice(0, -1)],
  'the ID and more': [`${ID}0`],
  'the ID twice': [ID, ID],
  'a name before the ID': [`advocacy=${ID}`],
  'a space inside of the ID': [ID.slice(0, 8), ' ', ID.slice(8)],
  'a quote inside of the ID': [ID.slice(0, 8), '"', ID.slice(8)],
  'the ID without hyphens': [ID.replaceAll('-', '')],
};

suite('the verification of a domain', {
  'expects a TXT record with the ID, at a name below the domain': () =>
    assert.deepEqual(expected, { type: 'TXT', name: NAME, value: ID }),

  'accepts a record with the ID, in any case, with quotes and spaces around': () =>
    each(matching, (strings) => assert.equal(describeFound(strings), '')),

  'accepts a record among others': () => assert.equal(describeFound(['v=spf1 -all'], [ID], ['']), ''),

  'states the number of records if none matches': () =>
    each(notMatching, (strings) => {
      const end = `at ${NAME}, but none matches. Add a record with the expected value.`;
      assert.equal(describeFound(strings), `Found 1 TXT record ${end}`);
      assert.equal(describeFound(strings, ['v=spf1 -all'], []), `Found 3 TXT records ${end}`);
    }),

  'does not join several records': () =>
    assert.match(describeFound([ID.slice(0, 20)], [ID.slice(20)]), /^Found 2 TXT records/),

  'states that there is no record': () =>
    assert.equal(
      findVerificationProblem(expected, { outcome: 'none' }),
      `There is no TXT record at ${NAME}. Create the record, or wait until the name servers show it.`,
    ),

  'states the code if the name servers do not answer': () =>
    each(textCases('ETIMEOUT', 'ESERVFAIL'), (code) =>
      assert.equal(
        findVerificationProblem(expected, { outcome: 'failed', code }),
        `The name servers did not answer for ${NAME} (${code}). Try again in a moment.`,
      ),
    ),
});
