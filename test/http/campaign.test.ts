import assert from 'node:assert/strict';
import { assertFaults, assertNotFound, jsonOf, UNKNOWN_ID, UUID_V7 } from '../support/expected-responses.ts';
import { inWorld, newWorld, storedCampaign, type World } from '../support/fixture.ts';
import { campaignBody, refusedUrls, takenUrls, textsAround } from '../support/samples.ts';
import type { Api } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const NINE = Date.parse('2026-01-31T09:00:00Z');
const AMOUNTS = ['shareRewardAmount', 'clickRewardAmount', 'maxRewardPerEmployee', 'totalBudget'];
const OPTIONAL = ['domain', 'image', 'tagIds', 'groupIds', 'resources', 'targetShares', 'contentPillarId'];

const post = ({ call }: World, fields: object) => call('POST', '/campaigns', { ...campaignBody, ...fields });
const create = async (world: World, fields: object = {}) => jsonOf(await post(world, fields), 201);

const createNamed = async ({ call }: World, kind: 'tags' | 'groups', names: readonly string[]): Promise<string[]> => {
  const answers = await Promise.all(names.map((name) => call('POST', `/${kind}`, { name })));
  return answers.map((answer) => jsonOf(answer, 201).id);
};

const createPillar = ({ app }: Api, { workspaceId, admin }: World) =>
  app.contentPillars.create(workspaceId, { authorId: admin.id, title: 'Life', color: 'green' });

/** Sends a number of JSON that JavaScript cannot write. */
const postNumber = ({ call }: World, field: string, digits: string) =>
  call('POST', '/campaigns', JSON.stringify({ ...campaignBody, [field]: 'DIGITS' }).replace('"DIGITS"', digits));

suite('POST /campaigns', {
  'makes a campaign and returns its twelve fields': () =>
    inWorld(
      async (world) => {
        const campaign = await create(world);
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
        assert.deepEqual(jsonOf(await world.call('GET', `/campaigns/${campaign.id}`)), campaign);
        assert.deepEqual(jsonOf(await world.call('GET', '/campaigns')), [campaign]);
      },
      { now: () => NINE },
    ),

  'keeps the fields that no read returns': () =>
    inWorld(async (world, api) => {
      const tagIds = await createNamed(world, 'tags', ['Launch']);
      const groupIds = await createNamed(world, 'groups', ['Sales']);
      const { id: contentPillarId } = await createPillar(api, world);
      jsonOf(await world.call('POST', '/domains', { slug: 'go.example.com' }), 201);
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
      const campaign = await create(world, { ...sent, targetShares: 50 });
      assert.deepEqual(Object.keys(campaign), Object.keys(await create(world)));
      assert.equal(campaign.targetShares, 50);
      const stored = await storedCampaign(api, world, campaign.id);
      assert.deepEqual(Object.fromEntries(Object.entries(stored).filter(([name]) => name in sent)), sent);
      assert.equal(stored.createdBy, world.admin.id);
    }),

  'accepts URLs with Latin-1 letters, also after many requests': () =>
    inWorld(async (world) => {
      const url = 'https://münchen.example/ä';
      const resources = Array.from({ length: 50 }, () => ({ url, thumbnailUrl: url }));
      for (let requests = 0; requests < 60; requests++) await create(world, { image: url, resources });
    }),

  'leaves unset what is not sent or null': () =>
    inWorld(async (world, api) => {
      const unset = { domain: null, image: null, contentPillarId: null };
      for (const fields of [{}, unset]) {
        const { domain, image, contentPillarId, ...rest } = await storedCampaign(
          api,
          world,
          (await create(world, fields)).id,
        );
        assert.deepEqual({ domain, image, contentPillarId }, unset);
        assert.deepEqual([rest.tagIds, rest.groupIds, rest.resources, rest.targetShares], [[], [], [], null]);
      }
    }),

  'needs twelve fields, and takes null for three others alone': () =>
    inWorld(async (world) => {
      for (const field of Object.keys(campaignBody)) {
        for (const value of [undefined, null, {}, [], true]) {
          assertFaults(await post(world, { [field]: value }), [field], `${field} ${value}`);
        }
      }
      for (const field of OPTIONAL) {
        const isNullable = ['domain', 'image', 'contentPillarId'].includes(field);
        assert.equal((await post(world, { [field]: null })).status, isNullable ? 201 : 422, field);
        for (const value of [{}, true]) assertFaults(await post(world, { [field]: value }), [field]);
      }
    }),

  'names ten faults at most, unknown fields first': () =>
    inWorld(async ({ call }) => {
      const required = Object.keys(campaignBody);
      assertFaults(await call('POST', '/campaigns', {}), required.slice(0, 10));
      const unknown = { clicks: 1, id: UNKNOWN_ID, hasShared: true };
      assertFaults(await call('POST', '/campaigns', unknown), [...Object.keys(unknown), ...required.slice(0, 7)]);
    }),

  'takes a name of 1 to 190 code points, and up to 5000 in the other texts': () =>
    inWorld(async (world, api) => {
      const rules = {
        name: { min: 1, max: 190 },
        description: { max: 5000 },
        shareContext: { max: 5000 },
        objective: { max: 5000 },
      };
      for (const [field, rule] of Object.entries(rules)) {
        const { taken, refused } = textsAround(rule);
        for (const text of taken) {
          const { id } = await create(world, { [field]: text });
          assert.equal((await storedCampaign(api, world, id))[field as keyof typeof rules], text.trim());
        }
        for (const text of [...refused, 1]) assertFaults(await post(world, { [field]: text }), [field]);
      }
      const { name, description } = await create(world, { name: ' Summer, and more ', description: ' ' });
      assert.deepEqual([name, description], ['Summer, and more', '']);
    }),

  'takes each status': () =>
    inWorld(async (world) => {
      for (const status of ['draft', 'published', 'archived']) {
        assert.equal((await create(world, { status })).status, status);
      }
      for (const status of ['Draft', ' draft', '', 'active', 1]) {
        assertFaults(await post(world, { status }), ['status']);
      }
    }),

  'takes http and https URLs as destinationUrl and image': () =>
    inWorld(async (world, api) => {
      for (const url of takenUrls) {
        const campaign = await create(world, { destinationUrl: url, image: url });
        assert.equal(campaign.destinationUrl, url.trim());
        assert.equal((await storedCampaign(api, world, campaign.id)).image, url.trim());
      }
      for (const url of refusedUrls) {
        assertFaults(await post(world, { destinationUrl: url, image: url }), ['destinationUrl', 'image'], url);
      }
      for (const blank of ['', ' \n']) {
        assert.equal((await create(world, { destinationUrl: blank })).destinationUrl, null);
        assertFaults(await post(world, { image: blank }), ['image']);
      }
      assertFaults(await post(world, { destinationUrl: 1, image: 1 }), ['destinationUrl', 'image']);
    }),

  'keeps amounts exactly, sent as numbers or as decimal strings': () =>
    inWorld(async (world, api) => {
      const taken: readonly [sent: number | string, amount: string][] = [
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
      for (const [sent, amount] of taken) {
        const { id } = await create(world, Object.fromEntries(AMOUNTS.map((field) => [field, sent])));
        const stored = Object.entries(await storedCampaign(api, world, id)).filter(([field]) =>
          AMOUNTS.includes(field),
        );
        assert.deepEqual(Object.fromEntries(stored), Object.fromEntries(AMOUNTS.map((field) => [field, amount])));
      }
      const refused = [
        ...[-1, -0.0001, 1e12, 1e21, 0.00001, 0.12345, 1e-7],
        ...['-1', '-0', '1000000000000', '0.12345', '1.00000', '007', '00', '00.5', '.5', '5.', '.', '1e3', '+1'],
        ...['', ' ', ' 1', '1 ', '1\n', '1,5', '1_000', '0x10', '1.5.2', 'NaN', 'Infinity', 'ten', '١'],
      ];
      for (const sent of refused) {
        const fields = Object.fromEntries(AMOUNTS.map((field) => [field, sent]));
        assertFaults(await post(world, fields), AMOUNTS, JSON.stringify(sent));
      }
      for (const field of AMOUNTS) assertFaults(await postNumber(world, field, '1e999'), [field]);
      assert.equal(
        (await storedCampaign(api, world, (await postNumber(world, 'totalBudget', '12.50')).json.id)).totalBudget,
        '12.5',
      );
    }),

  'takes whole numbers or their strings as targetShares': () =>
    inWorld(async (world) => {
      const taken: readonly [sent: number | string, targetShares: number][] = [
        [0, 0],
        ['0', 0],
        [50, 50],
        ['50', 50],
        [1e3, 1000],
        [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
        ['9007199254740991', Number.MAX_SAFE_INTEGER],
      ];
      for (const [sent, targetShares] of taken) {
        assert.equal((await create(world, { targetShares: sent })).targetShares, targetShares);
      }
      assert.equal(jsonOf(await postNumber(world, 'targetShares', '5.0'), 201).targetShares, 5);
      const refused = [
        ...[-1, 1.5, 2 ** 53, 1e21],
        ...['-1', '1.5', '1.0', '5.', '9007199254740992', '99999999999999999999', '007', '00', '1e3', '+5', '0x5'],
        ...['', ' ', ' 5', '5 ', 'five', 'NaN'],
      ];
      for (const targetShares of refused) {
        assertFaults(await post(world, { targetShares }), ['targetShares'], JSON.stringify(targetShares));
      }
      assertFaults(await postNumber(world, 'targetShares', '1e999'), ['targetShares']);
    }),
});

const takenDates = [
  ...['2026-01-31', '2024-02-29', '2000-02-29', '0001-01-01', '9999-12-31'],
  ...['2026-01-31T09:30', '2026-01-31T09:30Z', '2026-01-31T00:00Z', '2026-01-31T23:59:59.999'],
  ...['2026-01-31T09:30:15Z', '2026-01-31T09:30:15.1Z', '2026-01-31T09:30:15.123456789', '2024-02-29T09:30Z'],
  ...['2026-01-31T09:30+02:00', '2026-01-31T09:30:15-05:30', '2026-01-31T09:30:15.5+00:00', '2026-01-31T09:30-00:00'],
  ...['2026-01-31T09:30+23:59', '2026-01-31T09:30-23:59'],
];

const refusedDates = [
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

suite('POST /campaigns: dates', {
  'takes dates and date-times, and returns them as they were sent': () =>
    inWorld(async (world) => {
      for (const date of takenDates) {
        for (const dates of [
          { startDate: date, endDate: '9999-12-31' },
          { startDate: '0001-01-01', endDate: date },
        ]) {
          const { id, startDate, endDate } = await create(world, dates);
          assert.deepEqual({ startDate, endDate }, dates);
          const seen = jsonOf(await world.call('GET', `/campaigns/${id}`));
          assert.deepEqual([seen.startDate, seen.endDate], [dates.startDate, dates.endDate]);
        }
      }
      for (const date of refusedDates) {
        const what = JSON.stringify(date);
        assertFaults(await post(world, { startDate: date }), ['startDate'], what);
        assertFaults(await post(world, { endDate: date }), ['endDate'], what);
        assertFaults(await post(world, { startDate: date, endDate: date }), ['startDate', 'endDate'], what);
      }
    }),

  'refuses an end before its start: a bare date starts at the first and ends at the last millisecond of its day': () =>
    inWorld(async (world) => {
      const taken = [
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
      for (const [startDate, endDate] of taken) await create(world, { startDate, endDate });
      const refused = [
        ['2026-02-01', '2026-01-31'],
        ['2026-02-01T00:00Z', '2026-01-31'],
        ['2026-01-31', '2026-01-30T23:59:59.999Z'],
        ['2026-01-31T09:30:00.001Z', '2026-01-31T09:30Z'],
        ['2026-01-31T09:30+02:00', '2026-01-31T07:29:59.999Z'],
        ['2026-01-31T09:30-02:00', '2026-01-31T11:29:59.999Z'],
        ['2026-01-31T23:30-01:00', '2026-01-31'],
      ];
      for (const [startDate, endDate] of refused) {
        assertFaults(await post(world, { startDate, endDate }), ['endDate'], `${startDate} ${endDate}`);
      }
    }),

  'names an end before its start beside whatever else is wrong': () =>
    inWorld(async (world) => {
      const cases: readonly [fields: object, faults: string[]][] = [
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
      for (const [fields, faults] of cases) {
        assertFaults(await post(world, { startDate: '2026-07-01', endDate: '2026-06-30', ...fields }), faults);
      }
    }),
});

const LINK = 'https://example.com/a.png';

/** What each field of a resource takes and refuses. */
const label = textsAround({ max: 255 });
const number = { taken: [0, 1.5, 1e300], refused: [-1, -0.001, '5', true, [], {}] };
const resourceFields: Record<string, { taken: readonly unknown[]; refused: readonly unknown[] }> = {
  url: { taken: takenUrls, refused: [...refusedUrls, '', ' ', null, undefined, 1, []] },
  type: { taken: ['image', 'video', 'pdf'], refused: ['Image', ' image', '', 'gif', null, 1, []] },
  mimeType: { taken: label.taken, refused: [...label.refused, null, 1, []] },
  size: { taken: number.taken, refused: [...number.refused, null] },
  width: { taken: [...number.taken, null], refused: number.refused },
  height: { taken: [...number.taken, null], refused: number.refused },
  thumbnailUrl: { taken: [...takenUrls, null], refused: [...refusedUrls, '', ' ', 1, []] },
  language: { taken: [...label.taken, null], refused: [...label.refused, 1, []] },
  order: { taken: number.taken, refused: [...number.refused, null] },
};

suite('POST /campaigns: resources', {
  'keeps plain strings and objects in their order': () =>
    inWorld(async (world, api) => {
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
      const { id } = await create(world, { resources: [{ url: ` ${LINK}?1 ` }, ` ${LINK}?2 `, full, LINK, LINK] });
      const { resources } = await storedCampaign(api, world, id);
      assert.deepEqual(resources, [{ url: `${LINK}?1` }, { url: `${LINK}?2` }, full, { url: LINK }, { url: LINK }]);
    }),

  'takes each field within its bounds and refuses it beyond them, naming its path': () =>
    inWorld(async (world, api) => {
      for (const [field, { taken, refused }] of Object.entries(resourceFields)) {
        for (const value of taken) {
          const { id } = await create(world, { resources: [{ url: LINK, [field]: value }] });
          const [resource] = (await storedCampaign(api, world, id)).resources;
          const expected = typeof value === 'string' ? value.trim() : value;
          assert.deepEqual(resource, { url: LINK, [field]: expected });
        }
        for (const value of refused) {
          const resources = [LINK, { url: LINK, [field]: value }];
          assertFaults(await post(world, { resources }), [`resources.1.${field}`], JSON.stringify(value));
        }
      }
      const body = JSON.stringify({ ...campaignBody, resources: [{ url: LINK, size: 0 }] });
      const answer = await world.call('POST', '/campaigns', body.replace('"size":0', '"size":1e999'));
      assertFaults(answer, ['resources.0.size']);
    }),

  'takes http and https URLs as plain strings': () =>
    inWorld(async (world, api) => {
      const { id } = await create(world, { resources: takenUrls });
      assert.deepEqual(
        (await storedCampaign(api, world, id)).resources,
        takenUrls.map((url) => ({ url: url.trim() })),
      );
      for (const url of [...refusedUrls, '', ' ']) {
        assertFaults(await post(world, { resources: [LINK, url] }), ['resources.1'], url);
      }
    }),

  'refuses what is neither a string nor an object, and names every fault by its path': () =>
    inWorld(async (world) => {
      const cases: readonly [resources: unknown, faults: string[]][] = [
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
      for (const [resources, faults] of cases) {
        assertFaults(await post(world, { resources }), faults, JSON.stringify(resources));
      }
      const { error } = (await post(world, { resources: [{ url: LINK, alt: 'x' }] })).json;
      for (const field of Object.keys(resourceFields)) assert.ok(error.message.includes(field), field);
    }),

  'takes 50 of them, the same or not, and no more': () =>
    inWorld(async (world, api) => {
      const fifty = Array.from({ length: 50 }, (_, i) => (i % 2 ? LINK : { url: `${LINK}?${i}` }));
      const { id } = await create(world, { resources: fifty });
      assert.equal((await storedCampaign(api, world, id)).resources.length, 50);
      assertFaults(await post(world, { resources: [...fifty, LINK] }), ['resources']);
    }),
});

suite('POST /campaigns: references', {
  'keeps tagIds and groupIds in the order sent, in lower case and without duplicates, 100 at most': () =>
    inWorld(async (world, api) => {
      for (const [kind, field] of [
        ['tags', 'tagIds'],
        ['groups', 'groupIds'],
      ] as const) {
        const ids = await createNamed(
          world,
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
            (await storedCampaign(api, world, (await create(world, { [field]: sent })).id))[field],
            stored,
          );
        }
        assertFaults(await post(world, { [field]: ids }), [field]);
        assertFaults(await post(world, { [field]: [a, a.toUpperCase(), 'x', a, 'x', 7] }), [
          `${field}.2`,
          `${field}.5`,
        ]);
        assertFaults(await post(world, { [field]: [...ids, 'x'] }), [field]);
        assertFaults(await post(world, { [field]: ['x', ...ids] }), [`${field}.0`, field]);
      }
    }),

  'refuses what the workspace does not have, and names each': () =>
    inWorld(async (world, api) => {
      const other = await newWorld(api);
      const [[tag], [group], pillar] = [
        await createNamed(world, 'tags', ['Own']),
        await createNamed(world, 'groups', ['Own']),
        await createPillar(api, world),
      ];
      const [[foreignTag], [foreignGroup], foreignPillar] = [
        await createNamed(other, 'tags', ['Foreign']),
        await createNamed(other, 'groups', ['Foreign']),
        await createPillar(api, other),
      ];
      jsonOf(await other.call('POST', '/domains', { slug: 'foreign.example' }), 201);
      await create(world, { tagIds: [tag], groupIds: [group], contentPillarId: pillar.id.toUpperCase() });
      const max = 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF';
      const nil = '00000000-0000-0000-0000-000000000000';
      const cases: readonly [fields: object, faults: string[]][] = [
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
      for (const [fields, faults] of cases) {
        assertFaults(await post(world, fields), faults, JSON.stringify(fields));
      }
      assert.equal(jsonOf(await world.call('GET', '/campaigns')).length, 1);
    }),

  'refuses what has not the form of an id': () =>
    inWorld(async (world) => {
      const malformed = [
        ...['', 'no-id', ` ${UNKNOWN_ID}`, `{${UNKNOWN_ID}}`, UNKNOWN_ID.replaceAll('-', ''), `${UNKNOWN_ID}0`],
        ...['0190a000-0000-0000-8000-000000000000', '0190a000-0000-9000-8000-000000000000'],
        ...['0190a000-0000-7000-7000-000000000000', '0190a000-0000-7000-c000-000000000000'],
        ...['0190g000-0000-7000-8000-000000000000', `urn:uuid:${UNKNOWN_ID}`, 1, {}, []],
      ];
      for (const id of malformed) {
        const answer = await post(world, { tagIds: [id], groupIds: [id], contentPillarId: id });
        assertFaults(answer, ['tagIds.0', 'groupIds.0', 'contentPillarId'], JSON.stringify(id));
      }
      for (const field of ['tagIds', 'groupIds']) {
        for (const value of [UNKNOWN_ID, '', 1]) assertFaults(await post(world, { [field]: value }), [field]);
        assertFaults(await post(world, { [field]: [null] }), [`${field}.0`]);
      }
    }),

  'takes a content pillar that is published': () =>
    inWorld(async (world, api) => {
      const { id: contentPillarId } = await createPillar(api, world);
      const setStatus = async (status: string) =>
        jsonOf(await world.call('PATCH', `/content-pillars/${contentPillarId}`, { status }));
      await setStatus('archived');
      assertFaults(await post(world, { contentPillarId }), ['contentPillarId']);
      await setStatus('published');
      const { id } = await create(world, { contentPillarId: contentPillarId.toUpperCase() });
      assert.equal((await storedCampaign(api, world, id)).contentPillarId, contentPillarId);
    }),

  'takes a live domain of the workspace, verified or not, in any form': () =>
    inWorld(async (world, api) => {
      const slug = 'xn--bcher-kva.example';
      const domain = jsonOf(await world.call('POST', '/domains', { slug }), 201);
      const check = async () => {
        for (const form of [slug, ' Bücher.EXAMPLE. ', slug.toUpperCase()]) {
          assert.equal((await storedCampaign(api, world, (await create(world, { domain: form })).id)).domain, slug);
        }
      };
      await check();
      await api.app.domains.verify(world.workspaceId, domain.id);
      await check();
      jsonOf(await world.call('POST', '/domains', { slug, archived: true }));
      assertFaults(await post(world, { domain: slug }), ['domain']);
      jsonOf(await world.call('POST', '/domains', { slug, archived: false }));
      await check();
      const refused = ['', ' ', 'example', `https://${slug}`, `${slug}/x`, `www.${slug}`, domain.id, 1, []];
      for (const value of refused) assertFaults(await post(world, { domain: value }), ['domain']);
    }),
});

suite('GET /campaigns/{id}', {
  'returns the campaign, whatever the case of the id': () =>
    inWorld(async (world) => {
      const campaign = await create(world, { status: 'archived', targetShares: '7', destinationUrl: '' });
      for (const id of [campaign.id, campaign.id.toUpperCase()]) {
        assert.deepEqual(jsonOf(await world.call('GET', `/campaigns/${id}`)), campaign);
      }
    }),

  'answers 404 for what is no campaign here, after the query': () =>
    inWorld(async (world, api) => {
      const foreign = await create(await newWorld(api));
      for (const id of [UNKNOWN_ID, foreign.id, 'no-id', world.admin.id]) {
        assertNotFound(await world.call('GET', `/campaigns/${id}`), id);
        assertFaults(await world.call('GET', `/campaigns/${id}?page=1`), ['page']);
      }
    }),

  'counts shares and clicks, and tells a member whether that member has shared': () =>
    inWorld(async (world, api) => {
      const { campaigns } = api.app;
      const { id } = await create(world);
      await create(world);
      const sharer = await world.addMember();
      const keys = { admin: world.key, sharer: await world.addKey(sharer.id), nobody: await world.addKey() };
      const check = async (expected: { clicks: number; shares: number }, hasShared: Record<string, boolean>) => {
        for (const [name, key] of Object.entries(keys)) {
          const [other, listed] = jsonOf(await api.call('GET', '/campaigns', { key }));
          const seen = jsonOf(await api.call('GET', `/campaigns/${id}`, { key }));
          assert.deepEqual(listed, seen);
          assert.deepEqual({ clicks: seen.clicks, shares: seen.shares }, expected);
          assert.deepEqual([seen.hasShared, other.hasShared], [hasShared[name], name === 'nobody' ? undefined : false]);
          assert.equal('hasShared' in seen, name !== 'nobody');
        }
      };
      await check({ clicks: 0, shares: 0 }, { admin: false, sharer: false });
      for (let i = 0; i < 2; i++) await campaigns.recordShare(world.workspaceId, id, sharer.id);
      await check({ clicks: 0, shares: 1 }, { admin: false, sharer: true });
      await campaigns.recordClicks(world.workspaceId, id, 3);
      await campaigns.recordShare(world.workspaceId, id, world.admin.id);
      await check({ clicks: 3, shares: 2 }, { admin: true, sharer: true });
      await campaigns.setStatus(world.workspaceId, id, 'archived');
      assert.equal(jsonOf(await world.call('GET', `/campaigns/${id}`)).status, 'archived');
    }),

  'has no hasShared for a key of no member, from its creation on': () =>
    inWorld(async (world, api) => {
      const key = await world.addKey();
      const campaign = jsonOf(await api.call('POST', '/campaigns', { key, body: campaignBody }), 201);
      assert.equal('hasShared' in campaign, false);
      assert.deepEqual(jsonOf(await api.call('GET', `/campaigns/${campaign.id}`, { key })), campaign);
      assert.deepEqual(jsonOf(await api.call('GET', '/campaigns', { key })), [campaign]);
      assert.deepEqual(jsonOf(await world.call('GET', '/campaigns')), [{ ...campaign, hasShared: false }]);
    }),
});
