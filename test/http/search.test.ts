import assert from 'node:assert/strict';
import { each } from '../support/each.ts';
import { type Fixture, withFixture } from '../support/fixture.ts';
import { suite } from '../support/suite.ts';

/** The names of the fields that a search examines, by the path of the list. */
const lists = {
  '/campaigns': ['name', 'description'],
  '/inspiration-questions': ['question', 'description'],
  '/content-pillars': ['title', 'description'],
} as const;

const CAFE = 'Café time: 100% off_now [all].* \\o/';
const TEA = 'Tea (or two)? On the ΟΔΟΣ';

/** Searches, and the records that they find, newest first. */
const searches: Readonly<Record<string, readonly string[]>> = {
  café: [TEA, CAFE],
  ' cafe\u0301\t': [TEA, CAFE],
  'CAFÉ TI': [CAFE],
  cafe: [],
  οδος: [TEA],
  οδοσ: [TEA],
  '% OFF_': [CAFE],
  'off%': [],
  'off.now': [],
  '[all].*': [CAFE],
  '^tea': [],
  '(or two)?': [TEA],
  '\\O/': [CAFE],
  '/ tell': [],
  '/tell': [],
  '': [TEA, CAFE],
  ' ': [TEA, CAFE],
};

/** Asserts that each search finds exactly the records with the expected values of a field, in this order. */
async function assertFound({ list }: Fixture, path: string, field: string, cases: typeof searches): Promise<void> {
  for (const [search, expected] of Object.entries(cases)) {
    assert.deepEqual(await list(`${path}?search=${encodeURIComponent(search)}`, field), expected, search);
  }
}

suite('the search of a list', {
  'finds parts of two fields: ignores case, distinguishes diacritics, and treats pattern characters as text': () =>
    each(lists, ([field, other], path) =>
      withFixture(async (fixture) => {
        await fixture.create(path, { [field]: CAFE, [other]: 'Tell_us' });
        await fixture.create(path, { [field]: TEA, [other]: 'No CAFE\u0301 there' });
        await assertFound(fixture, path, field, { ...searches, tell_us: [CAFE] });
      }),
    ),

  'finds neither the objective nor the share context of a campaign': () =>
    withFixture(async (fixture) => {
      await fixture.create('/campaigns', { objective: 'Hidden', shareContext: 'Hidden' });
      assert.deepEqual(await fixture.list('/campaigns?search=hidden'), []);
    }),

  'finds parts of the ASCII form and the Unicode form of the slug of a domain': () =>
    withFixture(async (fixture) => {
      for (const slug of ['go.example', 'bücher.example', 'σας.example']) await fixture.create('/domains', { slug });
      await fixture.create('/domains', { slug: 'old.go.test', archived: true });
      const [go, books, greek] = ['go.example', 'xn--bcher-kva.example', 'xn--mxa8ab.example'];
      await assertFound(fixture, '/domains', 'slug', {
        'GO.': [go],
        'o.e': [go],
        ' BÜCHER.Ex ': [books],
        'BU\u0308CHER': [books],
        'XN--B': [books],
        bucher: [],
        ΣΑΣ: [greek],
        σασ: [greek],
        '.': [greek, books, go],
        '.*': [],
        exampleb: [],
      });
      assert.deepEqual(await fixture.list('/domains?search=go&includeArchived=true', 'slug'), ['old.go.test', go]);
    }),
});
