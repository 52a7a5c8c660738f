import assert from 'node:assert/strict';
import { UNKNOWN_ID } from '../support/expected-responses.ts';
import { type Fixture, withClock, withFixture } from '../support/fixture.ts';
import { campaignBody } from '../support/samples.ts';
import { suite } from '../support/suite.ts';
import { createKey } from '../support/tenants.ts';

/** Asserts the names that each query lists. */
async function assertNames({ list }: Fixture, cases: Readonly<Record<string, readonly string[]>>): Promise<void> {
  for (const [query, expected] of Object.entries(cases)) {
    assert.deepEqual(await list(`/campaigns?${query}`, 'name'), expected, query);
  }
}

suite('GET /campaigns', {
  'lists the unarchived campaigns of the workspace, newest first': () =>
    withFixture(async (fixture, { app }) => {
      const create = (name: string, status = 'published') => fixture.create('/campaigns', { name, status });
      for (const name of ['b', 'c', 'a']) await create(name);
      await create('draft', 'draft');
      await create('archived', 'archived');
      const { id } = await create('archived later');
      await app.campaigns.update(fixture, id, { status: 'archived' });
      const live = ['draft', 'a', 'c', 'b'];
      await assertNames(fixture, {
        '': live,
        'includeArchived=false': live,
        'includeArchived=true': ['archived later', 'archived', ...live],
      });
    }),

  'filters by dates and not by status: a campaign is active from its start to its end, both included': () =>
    withClock(async (fixture, clock) => {
      const campaigns = {
        dates: { startDate: '2026-06-01', endDate: '2026-06-30' },
        moment: { startDate: '2026-06-10T12:00+02:00', endDate: '2026-06-10T10:00Z', status: 'draft' },
        times: { startDate: '2026-06-10T09:59:59.999Z', endDate: '2026-06-10T10:00:00.001', status: 'archived' },
      };
      for (const [name, fields] of Object.entries(campaigns)) await fixture.create('/campaigns', { name, ...fields });
      const [dates, moment, times] = Object.keys(campaigns) as [string, string, string];
      const all = [times, moment, dates];
      const cases: readonly [now: string, upcoming: string[], active: string[], nonUpcoming: string[]][] = [
        ['2026-05-31T23:59:59.999Z', all, [], []],
        ['2026-06-01T00:00:00.000Z', [times, moment], [dates], [dates]],
        ['2026-06-10T09:59:59.999Z', [moment], [times, dates], [times, dates]],
        ['2026-06-10T10:00:00.000Z', [], all, all],
        ['2026-06-10T10:00:00.001Z', [], [times, dates], all],
        ['2026-06-10T10:00:00.002Z', [], [dates], all],
        ['2026-06-30T23:59:59.999Z', [], [dates], all],
        ['2026-07-01T00:00:00.000Z', [], [], all],
      ];
      for (const [time, upcoming, active, nonUpcoming] of cases) {
        clock.now = Date.parse(time);
        for (const [filter, expected] of Object.entries({ upcoming, active, 'non-upcoming': nonUpcoming })) {
          await assertNames(fixture, {
            [`filter=${filter}&includeArchived=true`]: expected,
            [`filter=${filter}`]: expected.filter((name) => name !== times),
          });
        }
      }
    }),

  'sorts by createdAt, updatedAt or startDate, always descending': () =>
    withClock(async (fixture, clock, { app: { campaigns, shares } }) => {
      const starts = { a: '2026-03-01', b: '2026-01-01T23:00-02:00', c: '2026-01-02', d: '2026-01-02T00:00Z' };
      const ids: Record<string, string> = {};
      for (const [name, startDate] of Object.entries(starts)) {
        clock.now += 1000;
        ids[name] = (await fixture.create('/campaigns', { name, startDate, endDate: '2026-12-31' })).id;
      }
      clock.now += 1000;
      const { workspaceId, admin } = fixture;
      const campaignId = ids.c as string;
      await shares.create({ workspaceId, member: admin }, campaignId);
      const clicks = [{ campaignId, memberId: admin.id, count: 5 }];
      await shares.addClicks({ workspaceId, processId: 'process', sequence: 1, clicks });
      await campaigns.update(fixture, ids.b as string, { status: 'archived' });
      await assertNames(fixture, {
        'includeArchived=true&sortBy=createdAt': ['d', 'c', 'b', 'a'],
        'includeArchived=true&sortBy=updatedAt': ['b', 'd', 'c', 'a'],
        'includeArchived=true&sortBy=startDate': ['a', 'b', 'd', 'c'],
        'sortBy=startDate&page=2&pageSize=2': ['c'],
      });
    }),

  'filters by tags, creator and domain': () =>
    withFixture(async (fixture, api) => {
      const { create, workspaceId, admin } = fixture;
      const [a, b] = [(await create('/tags', { name: 'Launch' })).id, (await create('/tags', { name: 'Über uns' })).id];
      const { id: unused } = await create('/tags', { name: 'Launches' });
      for (const slug of ['xn--bcher-kva.example', 'go.example']) await create('/domains', { slug });
      const campaigns = {
        none: {},
        launch: { tagIds: [a], domain: 'go.example' },
        hiring: { tagIds: [b], status: 'archived' },
        both: { tagIds: [b, a], domain: 'xn--bcher-kva.example' },
      };
      for (const [name, fields] of Object.entries(campaigns)) await create('/campaigns', { name, ...fields });
      const body = { ...campaignBody, name: 'of nobody', tagIds: [a] };
      await api.call('POST', '/campaigns', { key: await createKey(api, workspaceId), body });
      const launch = ['of nobody', 'both', 'launch'];
      await assertNames(fixture, {
        [`tagIds=${a.toUpperCase()}`]: launch,
        [`tagIds=${a},${b}&includeArchived=true`]: ['of nobody', 'both', 'hiring', 'launch'],
        [`tagIds=${unused}`]: [],
        'tagNames=%20LAUNCH+': launch,
        [`tagNames=launch,${encodeURIComponent('ÜBER UNS'.normalize('NFD'))}`]: launch,
        'tagNames=laun': [],
        'tagNames=uber%20uns': [],
        [`tagNames=${'x'.repeat(191)}`]: [],
        [`tagNames=launch&tagIds=${b}`]: ['both'],
        [`tagNames=launches&tagIds=${a}`]: [],
        [`userId=${admin.id.toUpperCase()}`]: ['both', 'launch', 'none'],
        [`userId=${UNKNOWN_ID}`]: [],
        'domain=xn--bcher-kva.example': ['both'],
        'domain=+B%C3%BCCHER.example.%20': ['both'],
      });
      for (const domain of ['example', 'https://go.example', 'www.go.example', 'null', '%C3%BC', 'a.b']) {
        await assertNames(fixture, { [`domain=${domain}`]: [] });
      }
      await fixture.call('PATCH', `/tags/${a}`, { name: 'Start' });
      await fixture.call('POST', '/domains', { slug: 'go.example', archived: true });
      await assertNames(fixture, { 'tagNames=launch': [], 'tagNames=START': launch, 'domain=go.example': ['launch'] });
    }),
});
