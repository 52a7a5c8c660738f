import assert from 'node:assert/strict';
import { assertInvalidFields, assertNotFound, jsonOf, UNKNOWN_ID, UUID_V7 } from '../support/expected-responses.ts';
import { createFixture, type Fixture, storedCampaign, withFixture } from '../support/fixture.ts';
import { campaignBody, invalidUrls, textsAroundLimits, validUrls } from '../support/samples.ts';
import type { Api } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const NINE = Date.parse('2026-01-31T09:00:00Z');
const AMOUNT_FIELDS = ['shareRewardAmount', 'clickRewardAmount', 'maxRewardPerEmployee', 'totalBudget'];
const OPTIONAL_FIELDS = ['domain', 'image', 'tagIds', 'groupIds', 'resources', 'targetShares', 'contentPillarId'];

const post = ({ call }: Fixture, fields: object) => call('POST', '/campaigns', { ...campaignBody, ...fields });
const create = async (fixture: Fixture, fields: object = {}) => jsonOf(await post(fixture, fields), 201);

const createNamed = async ({ call }: Fixture, kind: 'tags' | 'groups', names: readonly string[]): Promise<string[]> => {
  const responses = await Promise.all(names.map((name) => call('POST', `/${kind}`, { name })));
  return responses.map((response) => jsonOf(response, 201).id);
};

const createPillar = ({ app }: Api, { workspaceId, admin }: Fixture) =>
  app.contentPillars.create(workspaceId, { authorId: admin.id, title: 'Life', color: 'green' });

/** Sends a number in a spelling that `JSON.stringify` does not produce, such as `5.0` or `1e999`. */
const postNumber = ({ call }: Fixture, field: string, digits: string) =>
  call('POST', '/campaigns', JSON.stringify({ ...campaignBody, [field]: 'DIGITS' }).replace('"DIGITS"', digits));

suite('POST /campaigns', {
  'creates a campaign and returns its twelve fields': () =>
    withFixture(
      async (fixture) => {
        const campaign = await create(fixture);
        assert.deepEqual(campaign, {
          id: campaign.id,
          name: 'Summer',
          status: 'published',
          createdAt: '2026-01-31T09:00:00.000Z',
          description: 'Tents are here',
          destinationUrl: 'https://example.com/summer',
          clicks: 0,
          shares: 0,
          startDate: '2026-06-01',
          endDate: '2026-06-30',
          targetShares: null,
          hasShared: false,
        });
        assert.match(campaign.id, UUID_V7);
        assert.deepEqual(jsonOf(await fixture.call('GET', `/campaigns/${campaign.id}`)), campaign);
        assert.deepEqual(jsonOf(await fixture.call('GET', '/campaigns')), [campaign]);
      },
      { now: () => NINE },
    ),

  'stores the fields that no response contains': () =>
    withFixture(async (fixture, api) => {
      const tagIds = await createNamed(fixture, 'tags', ['Launch']);
      const groupIds = await createNamed(fixture, 'groups', ['Sales']);
      const { id: contentPillarId } = await createPillar(api, fixture);
      jsonOf(await fixture.call('POST', '/domains', { slug: 'go.example.com' }), 201);
      const sent = {
        shareContext: 'In your words',
        objective: 'Reach',
        domain: 'go.example.com',
        image: 'https://example.com/image.png',
        tagIds,
        groupIds,
        resources: [{ url: 'https://example.com/a.pdf', type: 'pdf' }],
        contentPillarId,
      };
      const campaign = await create(fixture, { ...sent, targetShares: 50 });
      assert.deepEqual(Object.keys(campaign), Object.keys(await create(fixture)));
      assert.equal(campaign.targetShares, 50);
      const stored = await storedCampaign(api, fixture, campaign.id);
      assert.deepEqual(Object.fromEntries(Object.entries(stored).filter(([name]) => name in sent)), sent);
      assert.equal(stored.createdBy, fixture.admin.id);
    }),

  'accepts URLs with Latin-1 letters, even after many requests': () =>
    withFixture(async (fixture) => {
      // In Node 20 and 22, the faster `canParse` rejects such URLs once V8 has optimized its caller (adapters/api/url.ts).
      const url = 'https://münchen.example/ä';
      const resources = Array.from({ length: 50 }, () => ({ url, thumbnailUrl: url }));
      for (let requests = 0; requests < 60; requests++) await create(fixture, { image: url, resources });
    }),

  'leaves omitted and null fields unset': () =>
    withFixture(async (fixture, api) => {
      const unset = { domain: null, image: null, contentPillarId: null };
      for (const fields of [{}, unset]) {
        const { domain, image, contentPillarId, ...rest } = await storedCampaign(
          api,
          fixture,
          (await create(fixture, fields)).id,
        );
        assert.deepEqual({ domain, image, contentPillarId }, unset);
        assert.deepEqual([rest.tagIds, rest.groupIds, rest.resources, rest.targetShares], [[], [], [], null]);
      }
    }),

  'requires twelve fields, and accepts null only for three optional fields': () =>
    withFixture(async (fixture) => {
      for (const field of Object.keys(campaignBody)) {
        for (const value of [undefined, null, {}, [], true]) {
          assertInvalidFields(await post(fixture, { [field]: value }), [field], `${field} ${value}`);
        }
      }
      for (const field of OPTIONAL_FIELDS) {
        const isNullable = ['domain', 'image', 'contentPillarId'].includes(field);
        assert.equal((await post(fixture, { [field]: null })).status, isNullable ? 201 : 422, field);
        for (const value of [{}, true]) assertInvalidFields(await post(fixture, { [field]: value }), [field]);
      }
    }),

  'names at most ten invalid fields, unknown ones first': () =>
    withFixture(async ({ call }) => {
      const required = Object.keys(campaignBody);
      assertInvalidFields(await call('POST', '/campaigns', {}), required.slice(0, 10));
      const unknown = { clicks: 1, id: UNKNOWN_ID, hasShared: true };
      assertInvalidFields(await call('POST', '/campaigns', unknown), [
        ...Object.keys(unknown),
        ...required.slice(0, 7),
      ]);
    }),

  'accepts a name of 1 to 190 code points, and other texts of up to 5000 code points': () =>
    withFixture(async (fixture, api) => {
      const rules = {
        name: { min: 1, max: 190 },
        description: { max: 5000 },
        shareContext: { max: 5000 },
        objective: { max: 5000 },
      };
      for (const [field, rule] of Object.entries(rules)) {
        const { valid, invalid } = textsAroundLimits(rule);
        for (const text of valid) {
          const { id } = await create(fixture, { [field]: text });
          assert.equal((await storedCampaign(api, fixture, id))[field as keyof typeof rules], text.trim());
        }
        for (const text of [...invalid, 1]) assertInvalidFields(await post(fixture, { [field]: text }), [field]);
      }
      const { name, description } = await create(fixture, { name: ' Summer, and more ', description: ' ' });
      assert.deepEqual([name, description], ['Summer, and more', '']);
    }),

  'accepts each status, and rejects other values': () =>
    withFixture(async (fixture) => {
      for (const status of ['draft', 'published', 'archived']) {
        assert.equal((await create(fixture, { status })).status, status);
      }
      for (const status of ['Draft', ' draft', '', 'active', 1]) {
        assertInvalidFields(await post(fixture, { status }), ['status']);
      }
    }),

  'accepts only http and https URLs as destinationUrl and image, but also a blank destinationUrl': () =>
    withFixture(async (fixture, api) => {
      for (const url of validUrls) {
        const campaign = await create(fixture, { destinationUrl: url, image: url });
        assert.equal(campaign.destinationUrl, url.trim());
        assert.equal((await storedCampaign(api, fixture, campaign.id)).image, url.trim());
      }
      for (const url of invalidUrls) {
        assertInvalidFields(await post(fixture, { destinationUrl: url, image: url }), ['destinationUrl', 'image'], url);
      }
      for (const blank of ['', ' \n']) {
        assert.equal((await create(fixture, { destinationUrl: blank })).destinationUrl, null);
        assertInvalidFields(await post(fixture, { image: blank }), ['image']);
      }
      assertInvalidFields(await post(fixture, { destinationUrl: 1, image: 1 }), ['destinationUrl', 'image']);
    }),

  'stores an amount exactly, whether it is sent as a number or as a decimal string': () =>
    withFixture(async (fixture, api) => {
      const valid: readonly [sent: number | string, amount: string][] = [
        [0, '0'],
        ['0', '0'],
        [12, '12'],
        ['12', '12'],
        ['12.5', '12.5'],
        ['12.50', '12.50'],
        ['0.0', '0.0'],
        [0.1, '0.1'],
        [0.0001, '0.0001'],
        ['0.0001', '0.0001'],
        [1e3, '1000'],
        [999_999_999_999, '999999999999'],
        ['999999999999', '999999999999'],
        ['999999999999.9999', '999999999999.9999'],
        [99_999_999_999.9999, '99999999999.9999'],
      ];
      for (const [sent, amount] of valid) {
        const { id } = await create(fixture, Object.fromEntries(AMOUNT_FIELDS.map((field) => [field, sent])));
        const stored = Object.entries(await storedCampaign(api, fixture, id)).filter(([field]) =>
          AMOUNT_FIELDS.includes(field),
        );
        assert.deepEqual(Object.fromEntries(stored), Object.fromEntries(AMOUNT_FIELDS.map((field) => [field, amount])));
      }
      const invalid = [
        ...[-1, -0.0001, 1e12, 1e21, 0.00001, 0.12345, 1e-7],
        ...['-1', '-0', '1000000000000', '0.12345', '1.00000', '007', '00', '00.5', '.5', '5.', '.', '1e3', '+1'],
        ...['', ' ', ' 1', '1 ', '1\n', '1,5', '1_000', '0x10', '1.5.2', 'NaN', 'Infinity', 'ten', '١'],
      ];
      for (const sent of invalid) {
        const fields = Object.fromEntries(AMOUNT_FIELDS.map((field) => [field, sent]));
        assertInvalidFields(await post(fixture, fields), AMOUNT_FIELDS, JSON.stringify(sent));
      }
      for (const field of AMOUNT_FIELDS) assertInvalidFields(await postNumber(fixture, field, '1e999'), [field]);
      assert.equal(
        (await storedCampaign(api, fixture, (await postNumber(fixture, 'totalBudget', '12.50')).json.id)).totalBudget,
        '12.5',
      );
    }),

  'accepts whole numbers from 0 as targetShares, sent as numbers or as strings of digits': () =>
    withFixture(async (fixture) => {
      const valid: readonly [sent: number | string, targetShares: number][] = [
        [0, 0],
        ['0', 0],
        [50, 50],
        ['50', 50],
        [1e3, 1000],
        [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
        ['9007199254740991', Number.MAX_SAFE_INTEGER],
      ];
      for (const [sent, targetShares] of valid) {
        assert.equal((await create(fixture, { targetShares: sent })).targetShares, targetShares);
      }
      assert.equal(jsonOf(await postNumber(fixture, 'targetShares', '5.0'), 201).targetShares, 5);
      const invalid = [
        ...[-1, 1.5, 2 ** 53, 1e21],
        ...['-1', '1.5', '1.0', '5.', '9007199254740992', '99999999999999999999', '007', '00', '1e3', '+5', '0x5'],
        ...['', ' ', ' 5', '5 ', 'five', 'NaN'],
      ];
      for (const targetShares of invalid) {
        assertInvalidFields(await post(fixture, { targetShares }), ['targetShares'], JSON.stringify(targetShares));
      }
      assertInvalidFields(await postNumber(fixture, 'targetShares', '1e999'), ['targetShares']);
    }),
});

const validDates = [
  ...['2026-01-31', '2024-02-29', '2000-02-29', '0001-01-01', '9999-12-31'],
  ...['2026-01-31T09:30', '2026-01-31T09:30Z', '2026-01-31T00:00Z', '2026-01-31T23:59:59.999'],
  ...['2026-01-31T09:30:15Z', '2026-01-31T09:30:15.1Z', '2026-01-31T09:30:15.123456789', '2024-02-29T09:30Z'],
  ...['2026-01-31T09:30+02:00', '2026-01-31T09:30:15-05:30', '2026-01-31T09:30:15.5+00:00', '2026-01-31T09:30-00:00'],
  ...['2026-01-31T09:30+23:59', '2026-01-31T09:30-23:59'],
];

const invalidDates = [
  ...['', ' ', 'now', '2026', '2026-01', '20260131', '2026-1-31', '31.01.2026', '01/31/2026', '2026-W05-6', '2026-031'],
  ...['2026-02-30', '2026-02-29', '1900-02-29', '2026-04-31', '2026-13-01', '2026-00-10', '2026-01-00', '2026-01-32'],
  ...['0000-01-01', '10000-01-01', '+002026-01-31', '-0001-01-01', ' 2026-01-31', '2026-01-31 ', '2026-01-31\n'],
  ...['2026-01-31T', '2026-01-31Z', '2026-01-31T09', '2026-01-31T09Z', '2026-01-31T0930Z', '2026-01-31T9:30Z'],
  ...['2026-01-31T24:00Z', '2026-01-31T24:00:00Z', '2026-01-31T23:60Z', '2026-01-31T23:59:60Z', '2026-02-30T09:30Z'],
  ...['2026-01-31T09:30:15.Z', '2026-01-31T09:30:15,5Z', '2026-01-31T09:30:15.1234567890Z', '2026-01-31T09:30.5Z'],
  ...['2026-01-31t09:30Z', '2026-01-31T09:30z', '2026-01-31 09:30Z', ' 2026-01-31T09:30Z', '2026-01-31T09:30Z '],
  ...['2026-01-31T09:30+02', '2026-01-31T09:30+0200', '2026-01-31T09:30+2:00', '2026-01-31T09:30\u221202:00'],
  ...['2026-01-31T09:30+24:00', '2026-01-31T09:30-24:00', '2026-01-31T09:30+02:60', '2026-01-31T09:30 +02:00'],
  ...['2026-01-31T09:30ZZ', '2026-01-31T09:30Z+02:00', '1769850000000', 1769850000000],
];

suite('POST /campaigns with dates', {
  'accepts dates and date-times, and returns them as they were sent': () =>
    withFixture(async (fixture) => {
      for (const date of validDates) {
        for (const dates of [
          { startDate: date, endDate: '9999-12-31' },
          { startDate: '0001-01-01', endDate: date },
        ]) {
          const { id, startDate, endDate } = await create(fixture, dates);
          assert.deepEqual({ startDate, endDate }, dates);
          const campaign = jsonOf(await fixture.call('GET', `/campaigns/${id}`));
          assert.deepEqual([campaign.startDate, campaign.endDate], [dates.startDate, dates.endDate]);
        }
      }
      for (const date of invalidDates) {
        const sent = JSON.stringify(date);
        assertInvalidFields(await post(fixture, { startDate: date }), ['startDate'], sent);
        assertInvalidFields(await post(fixture, { endDate: date }), ['endDate'], sent);
        assertInvalidFields(await post(fixture, { startDate: date, endDate: date }), ['startDate', 'endDate'], sent);
      }
    }),

  'rejects an endDate before the startDate': () =>
    withFixture(async (fixture) => {
      // Without a time, a startDate is the first millisecond of its day, and an endDate is the last. Smaller units are ignored.
      const valid = [
        ['2026-01-31', '2026-01-31'],
        ['2026-01-31T00:00Z', '2026-01-31'],
        ['2026-01-31T23:59:59.999Z', '2026-01-31'],
        ['2026-01-31T23:59:59.999999999Z', '2026-01-31'],
        ['2026-01-31', '2026-01-31T00:00Z'],
        ['2026-01-31T09:30', '2026-01-31T09:30Z'],
        ['2026-01-31T09:30:00.0009Z', '2026-01-31T09:30:00.0001Z'],
        ['2026-01-31T09:30+02:00', '2026-01-31T07:30Z'],
        ['2026-01-31T09:30-02:00', '2026-01-31T11:30Z'],
        ['2026-02-01T00:30+01:00', '2026-01-31'],
      ];
      for (const [startDate, endDate] of valid) await create(fixture, { startDate, endDate });
      const invalid = [
        ['2026-02-01', '2026-01-31'],
        ['2026-02-01T00:00Z', '2026-01-31'],
        ['2026-01-31', '2026-01-30T23:59:59.999Z'],
        ['2026-01-31T09:30:00.001Z', '2026-01-31T09:30Z'],
        ['2026-01-31T09:30+02:00', '2026-01-31T07:29:59.999Z'],
        ['2026-01-31T09:30-02:00', '2026-01-31T11:29:59.999Z'],
        ['2026-01-31T23:30-01:00', '2026-01-31'],
      ];
      for (const [startDate, endDate] of invalid) {
        assertInvalidFields(await post(fixture, { startDate, endDate }), ['endDate'], `${startDate} ${endDate}`);
      }
    }),

  'names an endDate before the startDate together with other invalid fields': () =>
    withFixture(async (fixture) => {
      const cases: readonly [fields: object, invalidFields: string[]][] = [
        [{ name: '' }, ['name', 'endDate']],
        [{ name: undefined, status: 1 }, ['name', 'status', 'endDate']],
        [{ color: 'red', totalBudget: -1 }, ['color', 'totalBudget', 'endDate']],
        [
          { resources: ['x', { url: 'x', alt: 'x' }] },
          ['resources.1.alt', 'resources.0', 'resources.1.url', 'endDate'],
        ],
        [{ tagIds: ['x'], targetShares: null }, ['tagIds.0', 'targetShares', 'endDate']],
        [{ endDate: '2026-02-30', name: '' }, ['name', 'endDate']],
        [{ startDate: 1, name: '' }, ['name', 'startDate']],
      ];
      for (const [fields, invalidFields] of cases) {
        assertInvalidFields(
          await post(fixture, { startDate: '2026-07-01', endDate: '2026-06-30', ...fields }),
          invalidFields,
        );
      }
    }),
});

const LINK = 'https://example.com/a.png';

const shortTexts = textsAroundLimits({ max: 255 });
const numbers = { valid: [0, 1.5, 1e300], invalid: [-1, -0.001, '5', true, [], {}] };
/** The valid and invalid values of each field of a resource. */
const resourceFields: Record<string, { valid: readonly unknown[]; invalid: readonly unknown[] }> = {
  url: { valid: validUrls, invalid: [...invalidUrls, '', ' ', null, undefined, 1, []] },
  type: { valid: ['image', 'video', 'pdf'], invalid: ['Image', ' image', '', 'gif', null, 1, []] },
  mimeType: { valid: shortTexts.valid, invalid: [...shortTexts.invalid, null, 1, []] },
  size: { valid: numbers.valid, invalid: [...numbers.invalid, null] },
  width: { valid: [...numbers.valid, null], invalid: numbers.invalid },
  height: { valid: [...numbers.valid, null], invalid: numbers.invalid },
  thumbnailUrl: { valid: [...validUrls, null], invalid: [...invalidUrls, '', ' ', 1, []] },
  language: { valid: [...shortTexts.valid, null], invalid: [...shortTexts.invalid, 1, []] },
  order: { valid: numbers.valid, invalid: [...numbers.invalid, null] },
};

suite('POST /campaigns with resources', {
  'stores resources in the order sent, whether they are plain strings or objects': () =>
    withFixture(async (fixture, api) => {
      const full = {
        url: LINK,
        type: 'image',
        mimeType: 'image/png',
        size: 1024,
        width: 640,
        height: 480,
        thumbnailUrl: `${LINK}?small`,
        language: 'pt-BR',
        order: 2,
      };
      const { id } = await create(fixture, { resources: [{ url: ` ${LINK}?1 ` }, ` ${LINK}?2 `, full, LINK, LINK] });
      const { resources } = await storedCampaign(api, fixture, id);
      assert.deepEqual(resources, [{ url: `${LINK}?1` }, { url: `${LINK}?2` }, full, { url: LINK }, { url: LINK }]);
    }),

  'accepts each valid value of a field, and names the path of each invalid value': () =>
    withFixture(async (fixture, api) => {
      for (const [field, { valid, invalid }] of Object.entries(resourceFields)) {
        for (const value of valid) {
          const { id } = await create(fixture, { resources: [{ url: LINK, [field]: value }] });
          const [resource] = (await storedCampaign(api, fixture, id)).resources;
          const expected = typeof value === 'string' ? value.trim() : value;
          assert.deepEqual(resource, { url: LINK, [field]: expected });
        }
        for (const value of invalid) {
          const resources = [LINK, { url: LINK, [field]: value }];
          assertInvalidFields(await post(fixture, { resources }), [`resources.1.${field}`], JSON.stringify(value));
        }
      }
      const body = JSON.stringify({ ...campaignBody, resources: [{ url: LINK, size: 0 }] });
      const response = await fixture.call('POST', '/campaigns', body.replace('"size":0', '"size":1e999'));
      assertInvalidFields(response, ['resources.0.size']);
    }),

  'accepts only http and https URLs as plain strings': () =>
    withFixture(async (fixture, api) => {
      const { id } = await create(fixture, { resources: validUrls });
      assert.deepEqual(
        (await storedCampaign(api, fixture, id)).resources,
        validUrls.map((url) => ({ url: url.trim() })),
      );
      for (const url of [...invalidUrls, '', ' ']) {
        assertInvalidFields(await post(fixture, { resources: [LINK, url] }), ['resources.1'], url);
      }
    }),

  'rejects resources that are neither strings nor objects, and names the path of each problem': () =>
    withFixture(async (fixture) => {
      const cases: readonly [resources: unknown, invalidFields: string[]][] = [
        ['https://example.com', ['resources']],
        [{ 0: LINK, length: 1 }, ['resources']],
        [1, ['resources']],
        [
          [1, null, true, [LINK]],
          ['resources.0', 'resources.1', 'resources.2', 'resources.3'],
        ],
        [[{}], ['resources.0.url']],
        [
          [{ url: LINK, alt: 'x' }, LINK, { alt: 'x' }],
          ['resources.0.alt', 'resources.2.alt', 'resources.2.url'],
        ],
        [
          ['x', LINK, { url: 'x', size: -1 }],
          ['resources.0', 'resources.2.url', 'resources.2.size'],
        ],
      ];
      for (const [resources, invalidFields] of cases) {
        assertInvalidFields(await post(fixture, { resources }), invalidFields, JSON.stringify(resources));
      }
      const { error } = (await post(fixture, { resources: [{ url: LINK, alt: 'x' }] })).json;
      for (const field of Object.keys(resourceFields)) assert.ok(error.message.includes(field), field);
    }),

  'accepts up to 50 resources, even if some are equal': () =>
    withFixture(async (fixture, api) => {
      const fifty = Array.from({ length: 50 }, (_, i) => (i % 2 ? LINK : { url: `${LINK}?${i}` }));
      const { id } = await create(fixture, { resources: fifty });
      assert.equal((await storedCampaign(api, fixture, id)).resources.length, 50);
      assertInvalidFields(await post(fixture, { resources: [...fifty, LINK] }), ['resources']);
    }),
});

suite('POST /campaigns with ids and domains', {
  'stores up to 100 tagIds or groupIds in the order sent, in lower case and without duplicates': () =>
    withFixture(async (fixture, api) => {
      for (const [kind, field] of [
        ['tags', 'tagIds'],
        ['groups', 'groupIds'],
      ] as const) {
        const ids = await createNamed(
          fixture,
          kind,
          Array.from({ length: 101 }, (_, i) => `Name ${i}`),
        );
        const [a, b, c] = ids as [string, string, string];
        const hundred = ids.slice(0, 100);
        const cases: readonly [sent: string[], stored: string[]][] = [
          [[], []],
          [
            [c, a.toUpperCase(), b, a, c.toUpperCase()],
            [c, a, b],
          ],
          [[...hundred, ...hundred.map((id) => id.toUpperCase())], hundred],
        ];
        for (const [sent, stored] of cases) {
          assert.deepEqual(
            (await storedCampaign(api, fixture, (await create(fixture, { [field]: sent })).id))[field],
            stored,
          );
        }
        assertInvalidFields(await post(fixture, { [field]: ids }), [field]);
        assertInvalidFields(await post(fixture, { [field]: [a, a.toUpperCase(), 'x', a, 'x', 7] }), [
          `${field}.2`,
          `${field}.5`,
        ]);
        assertInvalidFields(await post(fixture, { [field]: [...ids, 'x'] }), [field]);
        assertInvalidFields(await post(fixture, { [field]: ['x', ...ids] }), [`${field}.0`, field]);
      }
    }),

  'rejects ids and domains that the workspace does not have, and names each of them': () =>
    withFixture(async (fixture, api) => {
      const other = await createFixture(api);
      const [[tag], [group], pillar] = [
        await createNamed(fixture, 'tags', ['Own']),
        await createNamed(fixture, 'groups', ['Own']),
        await createPillar(api, fixture),
      ];
      const [[foreignTag], [foreignGroup], foreignPillar] = [
        await createNamed(other, 'tags', ['Foreign']),
        await createNamed(other, 'groups', ['Foreign']),
        await createPillar(api, other),
      ];
      jsonOf(await other.call('POST', '/domains', { slug: 'foreign.example' }), 201);
      await create(fixture, { tagIds: [tag], groupIds: [group], contentPillarId: pillar.id.toUpperCase() });
      const max = 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF';
      const nil = '00000000-0000-0000-0000-000000000000';
      const cases: readonly [fields: object, invalidFields: string[]][] = [
        [{ tagIds: [tag, foreignTag] }, ['tagIds.1']],
        [{ tagIds: [UNKNOWN_ID, tag, max, nil] }, ['tagIds.0', 'tagIds.2', 'tagIds.3']],
        [{ tagIds: [group] }, ['tagIds.0']],
        [{ groupIds: [foreignGroup, group] }, ['groupIds.0']],
        [{ groupIds: [UNKNOWN_ID, max] }, ['groupIds.0', 'groupIds.1']],
        [{ contentPillarId: foreignPillar.id }, ['contentPillarId']],
        [{ contentPillarId: UNKNOWN_ID }, ['contentPillarId']],
        [{ contentPillarId: max }, ['contentPillarId']],
        [{ domain: 'foreign.example' }, ['domain']],
        [{ domain: 'unknown.example' }, ['domain']],
        [
          { domain: 'a.b', tagIds: [foreignTag], groupIds: [foreignGroup], contentPillarId: foreignPillar.id },
          ['domain', 'tagIds.0', 'groupIds.0', 'contentPillarId'],
        ],
        [{ name: '', tagIds: [foreignTag] }, ['name']],
      ];
      for (const [fields, invalidFields] of cases) {
        assertInvalidFields(await post(fixture, fields), invalidFields, JSON.stringify(fields));
      }
      assert.equal(jsonOf(await fixture.call('GET', '/campaigns')).length, 1);
    }),

  'rejects malformed ids': () =>
    withFixture(async (fixture) => {
      const malformed = [
        ...['', 'no-id', ` ${UNKNOWN_ID}`, `{${UNKNOWN_ID}}`, UNKNOWN_ID.replaceAll('-', ''), `${UNKNOWN_ID}0`],
        ...['0190a000-0000-0000-8000-000000000000', '0190a000-0000-9000-8000-000000000000'],
        ...['0190a000-0000-7000-7000-000000000000', '0190a000-0000-7000-c000-000000000000'],
        ...['0190g000-0000-7000-8000-000000000000', `urn:uuid:${UNKNOWN_ID}`, 1, {}, []],
      ];
      for (const id of malformed) {
        const response = await post(fixture, { tagIds: [id], groupIds: [id], contentPillarId: id });
        assertInvalidFields(response, ['tagIds.0', 'groupIds.0', 'contentPillarId'], JSON.stringify(id));
      }
      for (const field of ['tagIds', 'groupIds']) {
        for (const value of [UNKNOWN_ID, '', 1]) assertInvalidFields(await post(fixture, { [field]: value }), [field]);
        assertInvalidFields(await post(fixture, { [field]: [null] }), [`${field}.0`]);
      }
    }),

  'accepts only a published content pillar': () =>
    withFixture(async (fixture, api) => {
      const { id: contentPillarId } = await createPillar(api, fixture);
      const setStatus = async (status: string) =>
        jsonOf(await fixture.call('PATCH', `/content-pillars/${contentPillarId}`, { status }));
      await setStatus('archived');
      assertInvalidFields(await post(fixture, { contentPillarId }), ['contentPillarId']);
      await setStatus('published');
      const { id } = await create(fixture, { contentPillarId: contentPillarId.toUpperCase() });
      assert.equal((await storedCampaign(api, fixture, id)).contentPillarId, contentPillarId);
    }),

  'accepts any spelling of a live domain of the workspace, whether or not it is verified': () =>
    withFixture(async (fixture, api) => {
      const slug = 'xn--bcher-kva.example';
      const domain = jsonOf(await fixture.call('POST', '/domains', { slug }), 201);
      const check = async () => {
        for (const text of [slug, ' Bücher.EXAMPLE. ', slug.toUpperCase()]) {
          assert.equal((await storedCampaign(api, fixture, (await create(fixture, { domain: text })).id)).domain, slug);
        }
      };
      await check();
      await api.app.domains.verify(fixture.workspaceId, domain.id);
      await check();
      jsonOf(await fixture.call('POST', '/domains', { slug, archived: true }));
      assertInvalidFields(await post(fixture, { domain: slug }), ['domain']);
      jsonOf(await fixture.call('POST', '/domains', { slug, archived: false }));
      await check();
      const invalid = ['', ' ', 'example', `https://${slug}`, `${slug}/x`, `www.${slug}`, domain.id, 1, []];
      for (const value of invalid) assertInvalidFields(await post(fixture, { domain: value }), ['domain']);
    }),
});

suite('GET /campaigns/{id}', {
  'returns the campaign for its id in upper or lower case': () =>
    withFixture(async (fixture) => {
      const campaign = await create(fixture, { status: 'archived', targetShares: '7', destinationUrl: '' });
      for (const id of [campaign.id, campaign.id.toUpperCase()]) {
        assert.deepEqual(jsonOf(await fixture.call('GET', `/campaigns/${id}`)), campaign);
      }
    }),

  'validates the query before it returns 404 for an unknown id': () =>
    withFixture(async (fixture, api) => {
      const foreign = await create(await createFixture(api));
      for (const id of [UNKNOWN_ID, foreign.id, 'no-id', fixture.admin.id]) {
        assertNotFound(await fixture.call('GET', `/campaigns/${id}`), id);
        assertInvalidFields(await fixture.call('GET', `/campaigns/${id}?page=1`), ['page']);
      }
    }),

  'counts shares and clicks, and tells each member whether they have shared the campaign': () =>
    withFixture(async (fixture, api) => {
      const { campaigns } = api.app;
      const { id } = await create(fixture);
      await create(fixture);
      const sharer = await fixture.addMember();
      // The key `nobody` belongs to no member.
      const keys = { admin: fixture.key, sharer: await fixture.addKey(sharer.id), nobody: await fixture.addKey() };
      const check = async (expected: { clicks: number; shares: number }, hasShared: Record<string, boolean>) => {
        for (const [name, key] of Object.entries(keys)) {
          const [other, listed] = jsonOf(await api.call('GET', '/campaigns', { key }));
          const campaign = jsonOf(await api.call('GET', `/campaigns/${id}`, { key }));
          assert.deepEqual(listed, campaign);
          assert.deepEqual({ clicks: campaign.clicks, shares: campaign.shares }, expected);
          assert.deepEqual(
            [campaign.hasShared, other.hasShared],
            [hasShared[name], name === 'nobody' ? undefined : false],
          );
          assert.equal('hasShared' in campaign, name !== 'nobody');
        }
      };
      await check({ clicks: 0, shares: 0 }, { admin: false, sharer: false });
      for (let i = 0; i < 2; i++) await campaigns.recordShare(fixture.workspaceId, id, sharer.id);
      await check({ clicks: 0, shares: 1 }, { admin: false, sharer: true });
      await campaigns.recordClicks(fixture.workspaceId, id, 3);
      await campaigns.recordShare(fixture.workspaceId, id, fixture.admin.id);
      await check({ clicks: 3, shares: 2 }, { admin: true, sharer: true });
      await campaigns.setStatus(fixture.workspaceId, id, 'archived');
      assert.equal(jsonOf(await fixture.call('GET', `/campaigns/${id}`)).status, 'archived');
    }),

  'omits hasShared for a key without a member, also on creation': () =>
    withFixture(async (fixture, api) => {
      const key = await fixture.addKey();
      const campaign = jsonOf(await api.call('POST', '/campaigns', { key, body: campaignBody }), 201);
      assert.equal('hasShared' in campaign, false);
      assert.deepEqual(jsonOf(await api.call('GET', `/campaigns/${campaign.id}`, { key })), campaign);
      assert.deepEqual(jsonOf(await api.call('GET', '/campaigns', { key })), [campaign]);
      assert.deepEqual(jsonOf(await fixture.call('GET', '/campaigns')), [{ ...campaign, hasShared: false }]);
    }),
});
