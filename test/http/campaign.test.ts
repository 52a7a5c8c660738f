import assert from 'node:assert/strict';
import { assertInvalidFields, jsonOf, UUID_V7 } from '../support/expected-responses.ts';
import { type Fixture, storedCampaign, withClock, withFixture } from '../support/fixture.ts';
import { booleans, campaignBody, oneOf, type SampleValues, texts, urls, withSamples } from '../support/samples.ts';
import type { Api } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createKey } from '../support/tenants.ts';

const URL = 'https://example.com/a.png';

const post = ({ call }: Fixture, fields: object) => call('POST', '/campaigns', { ...campaignBody, ...fields });
const create = async (fixture: Fixture, fields: object = {}) => jsonOf(await post(fixture, fields), 201);
const createAndRead = async (api: Api, fixture: Fixture, fields: object) =>
  storedCampaign(api, fixture, (await create(fixture, fields)).id);

/** Asserts the paths that the response to each campaign names as invalid. */
async function assertInvalid(
  fixture: Fixture,
  cases: readonly (readonly [fields: object, paths: readonly string[]])[],
) {
  for (const [fields, paths] of cases) assertInvalidFields(await post(fixture, fields), paths, JSON.stringify(fields));
}

suite('POST /campaigns', {
  'creates a campaign and returns its twelve fields, as the list and GET /campaigns/{id} do': () =>
    withClock(async (fixture) => {
      const { name, status, description, destinationUrl, startDate, endDate } = campaignBody;
      const campaign = await create(fixture);
      const sent = { name, status, description, destinationUrl, startDate, endDate };
      const createdAt = '2026-01-31T09:00:00.000Z';
      const others = { createdAt, clicks: 0, shares: 0, targetShares: null, hasShared: false };
      assert.deepEqual(campaign, { id: campaign.id, ...sent, ...others });
      assert.match(campaign.id, UUID_V7);
      const archived = await create(fixture, { status: 'archived', targetShares: '7', destinationUrl: '' });
      assert.deepEqual([archived.targetShares, archived.destinationUrl], [7, null]);
      for (const one of [campaign, archived]) {
        assert.deepEqual(jsonOf(await fixture.call('GET', `/campaigns/${one.id}`)), one);
      }
      assert.deepEqual(await fixture.list('/campaigns?includeArchived=true'), [archived, campaign]);
    }),

  'stores each field in its normal form, even a field that the response does not contain': () =>
    withFixture(async (fixture, api) => {
      const [tag, group, pillar] = [
        await fixture.create('/tags'),
        await fixture.create('/groups'),
        await fixture.create('/content-pillars'),
      ];
      await fixture.create('/domains', { slug: 'xn--bcher-kva.example' });
      const { createdBy, ...stored } = await createAndRead(api, fixture, {
        name: ' Tents ',
        shareContext: ' In your words\n',
        objective: 'Reach',
        shareRewardAmount: 1e3,
        clickRewardAmount: 0.0001,
        maxRewardPerEmployee: '12.50',
        totalBudget: '999999999999.9999',
        domain: ' Bücher.EXAMPLE. ',
        image: ` ${URL}\n`,
        tagIds: [tag.id.toUpperCase()],
        groupIds: [group.id],
        contentPillarId: pillar.id.toUpperCase(),
      });
      assert.equal(createdBy, fixture.admin.id);
      const expected = {
        name: 'Tents',
        shareContext: 'In your words',
        objective: 'Reach',
        shareRewardAmount: '1000',
        clickRewardAmount: '0.0001',
        maxRewardPerEmployee: '12.50',
        totalBudget: '999999999999.9999',
        domain: 'xn--bcher-kva.example',
        image: URL,
        tagIds: [tag.id],
        groupIds: [group.id],
        contentPillarId: pillar.id,
      };
      assert.deepEqual({ ...stored, ...expected }, stored);
    }),

  'returns dates as they were sent, and rejects an endDate before the startDate': () =>
    withFixture(async (fixture) => {
      // Without a time, a startDate is the first millisecond of its day, and an endDate is the last. Smaller units are
      // ignored.
      for (const [startDate, endDate] of [
        ['2026-01-31', '2026-01-31'],
        ['2026-01-31T23:59:59.999999999Z', '2026-01-31'],
        ['2026-01-31', '2026-01-31T00:00Z'],
        ['2026-01-31T09:30+02:00', '2026-01-31T07:30'],
      ]) {
        const campaign = await create(fixture, { startDate, endDate });
        assert.deepEqual([campaign.startDate, campaign.endDate], [startDate, endDate]);
      }
      for (const [startDate, endDate] of [
        ['2026-02-01', '2026-01-31'],
        ['2026-02-01T00:00Z', '2026-01-31'],
        ['2026-01-31', '2026-01-30T23:59:59.999Z'],
        ['2026-01-31T09:30+02:00', '2026-01-31T07:29:59.999Z'],
      ]) {
        await assertInvalid(fixture, [[{ startDate, endDate }, ['endDate']]]);
      }
    }),

  'names an endDate before the startDate together with other invalid fields': () =>
    withFixture(async (fixture) => {
      const cases: readonly [fields: object, paths: string[]][] = [
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
      const dates = { startDate: '2026-07-01', endDate: '2026-06-30' };
      await assertInvalid(
        fixture,
        cases.map(([fields, paths]) => [{ ...dates, ...fields }, paths]),
      );
    }),
});

const numbers: SampleValues = { valid: [0, 1.5, 1e300], invalid: [-1, -0.001, '5', ...booleans.valid, []] };
/** The fields of a resource. */
const resourceFields: Readonly<Record<string, SampleValues>> = {
  url: withSamples(urls, { invalid: [undefined] }),
  type: oneOf('image', 'video', 'pdf'),
  mimeType: texts({ max: 255 }),
  size: numbers,
  width: numbers,
  height: numbers,
  thumbnailUrl: urls,
  language: texts({ max: 255 }),
  order: numbers,
};

suite('POST /campaigns with resources', {
  'stores resources in the order sent, whether they are plain strings or objects': () =>
    withFixture(async (fixture, api) => {
      const texts = { url: URL, type: 'image', mimeType: 'image/png', thumbnailUrl: `${URL}?small`, language: 'pt-BR' };
      const full = { ...texts, size: 1024, width: 640, height: 480, order: 2 };
      const sent = [{ url: ` ${URL}?1 ` }, ` ${URL}?2 `, full, URL, URL];
      const { resources } = await createAndRead(api, fixture, { resources: sent });
      assert.deepEqual(resources, [{ url: `${URL}?1` }, { url: `${URL}?2` }, full, { url: URL }, { url: URL }]);
    }),

  'accepts each valid value of a field, and names the path of each invalid value': () =>
    withFixture(async (fixture, api) => {
      for (const [field, { valid, invalid }] of Object.entries(resourceFields)) {
        for (const value of valid) {
          const { resources } = await createAndRead(api, fixture, { resources: [{ url: URL, [field]: value }] });
          assert.deepEqual(resources, [{ url: URL, [field]: typeof value === 'string' ? value.trim() : value }]);
        }
        if (field !== 'url') {
          const { resources } = await createAndRead(api, fixture, { resources: [{ url: URL, [field]: null }] });
          assert.deepEqual(resources, [{ url: URL }], 'null counts as an omitted field');
        }
        await assertInvalid(
          fixture,
          [...invalid, ...(field === 'url' ? [null] : [])].map((value) => [
            { resources: [URL, { url: URL, [field]: value }] },
            [`resources.1.${field}`],
          ]),
        );
      }
      for (const url of urls.invalid) await assertInvalid(fixture, [[{ resources: [URL, url] }, ['resources.1']]]);
    }),

  'accepts at most 50 resources, each a string or an object, and names the path of each problem': () =>
    withFixture(async (fixture, api) => {
      const fifty = Array.from({ length: 50 }, (_, i) => (i % 2 ? URL : { url: `${URL}?${i}` }));
      assert.equal((await createAndRead(api, fixture, { resources: fifty })).resources.length, 50);
      const cases: readonly [resources: unknown, paths: string[]][] = [
        [[...fifty, URL], ['resources']],
        [1, ['resources']],
        [
          [1, null, true, [URL]],
          ['resources.0', 'resources.1', 'resources.2', 'resources.3'],
        ],
        [[{}], ['resources.0.url']],
        [
          [{ url: URL, alt: 'x' }, URL, { alt: 'x' }],
          ['resources.0.alt', 'resources.2.alt', 'resources.2.url'],
        ],
        [
          ['x', URL, { url: 'x', size: -1 }],
          ['resources.0', 'resources.2.url', 'resources.2.size'],
        ],
      ];
      await assertInvalid(
        fixture,
        cases.map(([resources, paths]) => [{ resources }, paths]),
      );
      const { error } = (await post(fixture, { resources: [{ url: URL, alt: 'x' }] })).json;
      assert.ok(error.message.endsWith(`allowed fields: ${Object.keys(resourceFields).join(', ')}`), error.message);
    }),
});

suite('a campaign', {
  'shows the numbers of its shares and clicks, and to a member also hasShared': () =>
    withFixture(async (fixture, api) => {
      const { workspaceId, admin } = fixture;
      const { id } = await create(fixture);
      await api.app.shares.create({ workspaceId, member: admin }, id);
      const clicks = [{ campaignId: id, memberId: admin.id, count: 3 }];
      await api.app.shares.addClicks({ workspaceId, processId: 'process', sequence: 1, clicks });
      const keys = {
        sharer: [fixture.key, { hasShared: true }],
        'another member': [await createKey(api, workspaceId, { member: {} }), { hasShared: false }],
        'no member': [await createKey(api, workspaceId), {}],
      } as const;
      for (const [holder, [key, expected]] of Object.entries(keys)) {
        const campaign = jsonOf(await api.call('GET', `/campaigns/${id}`, { key }));
        const { hasShared: _, ...others } = campaign;
        assert.deepEqual(campaign, { ...others, shares: 1, clicks: 3, ...expected }, holder);
        assert.deepEqual(jsonOf(await api.call('GET', '/campaigns', { key })), [campaign], holder);
        const created = jsonOf(await api.call('POST', '/campaigns', { key, body: campaignBody }), 201);
        assert.equal('hasShared' in created, 'hasShared' in expected, holder);
        await api.app.campaigns.update({ workspaceId }, created.id, { status: 'archived' });
      }
    }),

  'keeps the ID of a deleted content pillar, to which no new campaign can refer': () =>
    withFixture(async (fixture, api) => {
      const { id: contentPillarId } = await fixture.create('/content-pillars');
      const campaign = await create(fixture, { contentPillarId });
      jsonOf(await fixture.call('DELETE', `/content-pillars/${contentPillarId}`));
      const { updatedAt, createdAt, ...stored } = await storedCampaign(api, fixture, campaign.id);
      assert.deepEqual([stored.contentPillarId, updatedAt], [contentPillarId, createdAt]);
      assert.deepEqual(jsonOf(await fixture.call('GET', `/campaigns/${campaign.id}`)), campaign);
      await assertInvalid(fixture, [[{ contentPillarId }, ['contentPillarId']]]);
    }),
});
