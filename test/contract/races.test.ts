import assert from 'node:assert/strict';
import { createNodeSystem } from '../../adapters/node/system.ts';
import { createStorage, type StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import { Application } from '../../core/application.ts';
import { MAX_KEY_COUNT_PER_MEMBER, MAX_KEY_COUNT_WITHOUT_MEMBER, MAX_WEBHOOK_COUNT } from '../../core/limits.ts';
import type { MemberActor } from '../../core/shared/actor.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import { each } from '../support/each.ts';
import type { TestEngine } from '../support/engines/engine.ts';
import { engines } from '../support/engines/engines.ts';
import { parseDates } from '../support/parse-dates.ts';
import { assertRewardsAgree } from '../support/rewards.ts';
import { quickOrLong } from '../support/scale.ts';
import { suite } from '../support/suite.ts';
import { createCampaignFields, createWorkspace } from '../support/tenants.ts';

const CALL_COUNT = 50;
/** In each round, another one of three actions comes first. */
const ROUND_COUNT = 3;
const SHARER_COUNT = 10;
const PAGE = { page: 1, pageSize: 100 };

/**
 * Applications on the same data, and an actor for an admin of a workspace. Each call of the clock returns a later time.
 */
interface Setup {
  readonly actor: MemberActor;
  readonly app: Application;
  /** The storage of `app`. */
  readonly engine: StorageEngine;
  readonly apps: readonly Application[];
  /** Runs an action many times concurrently. The runs are distributed over the applications. */
  runConcurrently<T>(action: (app: Application, i: number) => Promise<T>): Promise<T[]>;
}

/** Runs a test on each engine. If several processes can share the data of the engine, there are two applications. */
const onEachEngine = (test: (setup: Setup) => Promise<void>) => () =>
  each(engines, async (load) => {
    const { isShared, createDatabase, open }: TestEngine = await load();
    const { location, remove } = await createDatabase();
    const opened = [await open(location, Date.now)];
    if (isShared) opened.push(await open(location, Date.now));
    try {
      let time = Date.now();
      const system = { ...createNodeSystem(), now: () => time++ };
      const apps = opened.map(({ engine }) => new Application(createStorage(engine), system));
      const app = apps[0] as Application;
      const { workspaceId, admin } = await createWorkspace(app);
      const runConcurrently: Setup['runConcurrently'] = (action) =>
        Promise.all(Array.from({ length: CALL_COUNT }, (_, i) => action(apps[i % apps.length] as Application, i)));
      const { engine } = opened[0] as (typeof opened)[number];
      await test({ actor: { workspaceId, member: admin }, app, engine, apps, runConcurrently });
    } finally {
      for (const { close } of opened) await close();
      await remove();
    }
  });

suite('concurrent changes of one campaign', {
  'count one share if a member shares the campaign 50 times': onEachEngine(async ({ actor, app, runConcurrently }) => {
    const { id, updatedAt } = await app.campaigns.create(actor, createCampaignFields());
    const results = await runConcurrently(({ shares }) => shares.create(actor, id));
    assert.equal(results.filter(({ isNew }) => isNew).length, 1);
    for (const { share } of results) assert.deepEqual(share, results[0]?.share);
    assert.equal((await app.campaigns.get(actor, id)).shares, 1);
    assert.equal((await app.campaigns.getBrief(actor.workspaceId, id)).updatedAt, updatedAt);
  }),

  'are all kept if they change different fields': onEachEngine(async ({ actor, app, runConcurrently }) => {
    const { id } = await app.campaigns.create(actor, createCampaignFields());
    const changes = [{ name: 'New' }, { description: 'New' }, { targetShares: 9 }, { endDate: '2099-01-01' }];
    await runConcurrently(({ campaigns }, i) =>
      campaigns.update(actor, id, parseDates(changes[i % changes.length] ?? {})),
    );
    const { name, description, targetShares, endDate } = await app.campaigns.get(actor, id);
    assert.deepEqual([{ name }, { description }, { targetShares }, { endDate }], changes);
  }),

  'pay the budget out in rewards, and no more': onEachEngine(async ({ actor, app, engine, runConcurrently }) => {
    const { workspaceId } = actor;
    const amounts = { shareRewardAmount: '1', clickRewardAmount: '0.3', maxRewardPerEmployee: '9', totalBudget: '20' };
    const { id: campaignId } = await app.campaigns.create(actor, { ...createCampaignFields(), ...amounts });
    const sharers: MemberActor[] = [];
    for (let i = 0; i < SHARER_COUNT; i++) {
      const member = await app.members.create(workspaceId, { name: 'Ada', email: `${i}@x.example` });
      sharers.push({ workspaceId, member });
    }
    // Half of the members share the campaign first, and get the clicks.
    const clicked = sharers.slice(0, SHARER_COUNT / 2);
    const clicks = clicked.map(({ member }) => ({ campaignId, memberId: member.id, count: 1 }));
    for (const sharer of clicked) await app.shares.create(sharer, campaignId);
    await runConcurrently(async ({ members, shares }, i) => {
      if (i % 5 < 2) await shares.create(sharers[i % SHARER_COUNT] as MemberActor, campaignId);
      else if (i === 7) await members.remove(workspaceId, clicks[0]?.memberId as string);
      else await shares.addClicks({ workspaceId, processId: `process ${i}`, sequence: 1, clicks });
    });
    await app.shares.addClicks({ workspaceId, processId: 'last process', sequence: 1, clicks });
    assert.equal((await assertRewardsAgree(engine, workspaceId)).rewards, amounts.totalBudget);
  }),

  'delete a draft, or publish and share it': onEachEngine(async ({ actor, app, runConcurrently }) => {
    const { workspaceId } = actor;
    for (let round = 0; round < ROUND_COUNT; round++) {
      const { id } = await app.campaigns.create(actor, { ...createCampaignFields(), status: 'draft' });
      const actions: readonly [string, (app: Application) => Promise<unknown>][] = [
        ['delete', ({ campaigns }) => campaigns.remove(workspaceId, id)],
        ['publish', ({ campaigns }) => campaigns.update(actor, id, { status: 'published' })],
        ['share', ({ shares }) => shares.create(actor, id)],
      ];
      const succeeded = new Set<string>();
      await runConcurrently(async (one, i) => {
        const [name, act] = actions[(i + round) % actions.length] as (typeof actions)[number];
        const assertExpected = ({ kind, stack }: CoreError) => assert.match(kind, /^(conflict|not_found)$/, stack);
        await act(one).then(() => succeeded.add(name), assertExpected);
      });
      assert.equal(succeeded.has('delete'), !succeeded.has('publish'));
      const { items } = await app.shares.listOfMember(actor, { ...PAGE, sortBy: 'createdAt', sortOrder: 'desc' });
      assert.equal(
        items.some(({ campaignId }) => campaignId === id),
        succeeded.has('share'),
      );
    }
  }),

  'change the status only once if they set the same status': onEachEngine(async ({ actor, app, runConcurrently }) => {
    const { id } = await app.campaigns.create(actor, { ...createCampaignFields(), status: 'draft' });
    const results = await runConcurrently(({ campaigns }) => campaigns.update(actor, id, { status: 'published' }));
    const { updatedAt } = await app.campaigns.getBrief(actor.workspaceId, id);
    for (const result of results) assert.deepEqual([result.status, result.updatedAt], ['published', updatedAt]);
  }),
});

suite('concurrent changes of members', {
  'leave one of two admins who demote or delete each other': onEachEngine(async ({ apps }) => {
    const [one, two = one] = apps as [Application, Application?];
    for (let round = 0; round < quickOrLong(20, 1000); round++) {
      const { workspaceId, admin } = await createWorkspace(one);
      const fields = { name: 'Ben', email: 'ben@x.example', role: 'admin', invitation: 'accepted' } as const;
      const { id } = await two.members.create(workspaceId, fields);
      const results = await Promise.allSettled<unknown>([
        round % 2 === 0 ? one.members.remove(workspaceId, id) : one.members.update(workspaceId, id, { role: 'member' }),
        two.members.update(workspaceId, admin.id, { role: 'member' }),
      ]);
      const rejected = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.causeName] : []));
      assert.deepEqual(rejected, ['last_admin'], `round ${round}`);
      const query = { role: 'admin', sortBy: 'name', sortOrder: 'asc', page: 1, pageSize: 9 } as const;
      assert.equal((await one.members.list(workspaceId, query)).items.length, 1);
    }
  }),

  'create only one member with an email address': onEachEngine(async ({ actor, runConcurrently }) => {
    const results = await runConcurrently(({ members }, i) =>
      members
        .create(actor.workspaceId, { name: 'Ada', email: i % 2 === 0 ? 'ada@x.example' : 'ADA@x.example' })
        .catch((error) => error.causeName),
    );
    assert.equal(results.filter((result) => result !== 'email_taken').length, 1);
  }),
});

const isConflict = (causeName: string) => (error: unknown) => {
  assert.ok(error instanceof CoreError && error.causeName === causeName, String(error));
  return undefined;
};

suite('concurrent changes of API keys', {
  'create exactly as many keys as a member or a workspace can have': onEachEngine(
    async ({ actor: { workspaceId }, app, runConcurrently }) => {
      for (let i = 0; i < MAX_KEY_COUNT_WITHOUT_MEMBER - 5; i++) await app.apiKeys.create(workspaceId, {});
      const { id: memberId } = await app.members.create(workspaceId, { name: 'Ada', email: 'ada@example.com' });
      for (const [fields, count] of [
        [{}, 5],
        [{ memberId }, MAX_KEY_COUNT_PER_MEMBER],
      ] as const) {
        const results = await runConcurrently(({ apiKeys }) =>
          apiKeys.create(workspaceId, fields).catch(isConflict('too_many_keys')),
        );
        assert.equal(results.filter((created) => created).length, count);
      }
      const query = { memberId, includeEnded: true, page: 1, pageSize: 100 };
      assert.equal((await app.apiKeys.list(workspaceId, query)).items.length, MAX_KEY_COUNT_PER_MEMBER);
    },
  ),

  'rotate a key once': onEachEngine(async ({ actor: { workspaceId }, app, runConcurrently }) => {
    for (const graceSeconds of [60, 0]) {
      const { apiKey } = await app.apiKeys.create(workspaceId, { label: `${graceSeconds}` });
      const results = await runConcurrently(({ apiKeys }) =>
        apiKeys.rotate(workspaceId, apiKey.id, graceSeconds).catch(isConflict('key_ended')),
      );
      assert.equal(results.filter((created) => created).length, 1);
      const { items } = await app.apiKeys.list(workspaceId, { includeEnded: true, page: 1, pageSize: 100 });
      assert.equal(items.filter(({ label }) => label === `${graceSeconds}`).length, 2);
    }
  }),
});

suite('concurrent creations of webhooks', {
  'create exactly as many as a workspace can have': onEachEngine(
    async ({ actor: { workspaceId }, app, runConcurrently }) => {
      const results = await runConcurrently(({ webhooks }) =>
        webhooks.create(workspaceId, { url: 'https://a.example' }).catch(isConflict('too_many_webhooks')),
      );
      assert.equal(results.filter((created) => created).length, MAX_WEBHOOK_COUNT);
      const { items } = await app.webhooks.list(workspaceId, { page: 1, pageSize: 100 });
      assert.equal(items.length, MAX_WEBHOOK_COUNT);
    },
  ),
});
