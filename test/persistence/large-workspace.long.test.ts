import assert from 'node:assert/strict';
import { campaignSchema } from '../../adapters/persistence/campaigns.ts';
import type { StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import type { MemberActor } from '../../core/access/caller.ts';
import type { Application } from '../../core/application.ts';
import { newCampaign } from '../../core/campaign/campaign.ts';
import { SHARE_SORTS } from '../../core/share/share.ts';
import type { Entity } from '../../core/shared/entity.ts';
import { buildShare, newId } from '../contract/samples.ts';
import { addAll } from '../support/add-all.ts';
import { each } from '../support/each.ts';
import { withDurableStorage, withEngine } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createCampaignFields, createWorkspace } from '../support/tenants.ts';

const BATCH_SIZE = 1_000;
const RECORD_COUNT = 100_000;
const RUN_COUNT = 200;
/** The maximum time with many records, divided by the time with few records. */
const MAX_RATIO = 3;

interface Setup {
  readonly engine: StorageEngine;
  readonly app: Application;
  readonly actor: MemberActor;
}

function withWorkspace(test: (setup: Setup) => Promise<void>): () => Promise<void> {
  return () =>
    withDurableStorage((settings) =>
      withEngine(settings, async (engine, app) => {
        const { workspaceId, admin } = await createWorkspace(app);
        await test({ engine, app, actor: { workspaceId, member: admin } });
      }),
    );
}

async function addRecords<T extends Entity>(
  store: { add(record: T): Promise<void> },
  count: number,
  create: (i: number) => T,
): Promise<void> {
  for (let i = 0; i < count; i += BATCH_SIZE) {
    await addAll(
      store,
      Array.from({ length: Math.min(BATCH_SIZE, count - i) }, (_, j) => create(i + j)),
    );
  }
}

/** Returns the median time of several runs, in milliseconds. */
async function measureMedianMs(runs: readonly (() => Promise<unknown>)[]): Promise<number> {
  const durations: number[] = [];
  for (const run of runs) {
    const start = performance.now();
    await run();
    durations.push(performance.now() - start);
  }
  return durations.sort((a, b) => a - b)[durations.length >> 1] as number;
}

const repeat = (run: () => Promise<unknown>) => Array.from({ length: RUN_COUNT }, () => run);

/** Returns the reads whose time must not depend on the number of shares of the campaign. */
function createReads({ app, actor }: Setup, campaignId: string): Readonly<Record<string, () => Promise<unknown>>> {
  const page = { page: 1, pageSize: 25 };
  const listShares = (fields: object) =>
    app.shares.list(actor.workspaceId, campaignId, {
      ...page,
      sortBy: 'createdAt',
      sortOrder: 'desc',
      ...fields,
    });
  return {
    'the list of campaigns': () => app.campaigns.list(actor, { ...page, includeArchived: false, sortBy: 'createdAt' }),
    'the shares of one member': () => listShares({ memberId: actor.member.id, sortBy: 'clicks' }),
    ...Object.fromEntries(
      SHARE_SORTS.flatMap((sortBy) =>
        ['asc', 'desc'].map((sortOrder) => [
          `shares by ${sortBy} ${sortOrder}`,
          () => listShares({ sortBy, sortOrder, page: 2 }),
        ]),
      ),
    ),
  };
}

suite('a large workspace', {
  'takes less than three times as long to list campaigns and shares with 100,000 shares as with 100 shares':
    withWorkspace(async (setup) => {
      const { engine, app, actor } = setup;
      const { workspaceId, member } = actor;
      const { id: campaignId } = await app.campaigns.create(actor, createCampaignFields());
      await app.shares.create(actor, campaignId);
      const addShares = (count: number) =>
        addRecords(engine.shares, count, (i) => {
          const createdAt = new Date(Date.now() + i).toISOString();
          return buildShare(workspaceId, { campaignId, clicks: (i * 7) % 100, createdAt });
        });
      const reads = createReads(setup, campaignId);
      await addShares(100);
      const before: Record<string, number> = {};
      for (const [name, read] of Object.entries(reads)) before[name] = await measureMedianMs(repeat(read));
      await addShares(RECORD_COUNT);
      await each(reads, async (read, name) => {
        const [few, many] = [before[name] as number, await measureMedianMs(repeat(read))];
        assert.ok(many < MAX_RATIO * few, `${name}: ${few.toFixed(2)} ms, and ${many.toFixed(2)} ms`);
      });
      const query = { page: 1, pageSize: 9, sortBy: 'clicks', sortOrder: 'asc', memberId: member.id } as const;
      assert.equal((await app.shares.list(workspaceId, campaignId, query)).items.length, 1);
    }),

  'deletes a tag of 100,000 campaigns in under three times the time of an unused tag': withWorkspace(async (setup) => {
    const { engine, app, actor } = setup;
    const { workspaceId } = actor;
    const createTags = async (name: string) => {
      const ids: string[] = [];
      for (let i = 0; i < 9; i++) ids.push((await app.tags.create(workspaceId, `${name} ${i}`)).id);
      return ids;
    };
    const [unusedTags, tagIds] = [await createTags('unused'), await createTags('used')];
    await addRecords(engine.campaigns, RECORD_COUNT, () =>
      campaignSchema.toRecord(
        newCampaign(workspaceId, newId(), null, { ...createCampaignFields(), tagIds }, Date.now()),
      ),
    );
    const measureRemovals = (ids: readonly string[]) =>
      measureMedianMs(ids.map((id) => () => app.tags.remove(workspaceId, id)));
    const query = { page: 1, pageSize: 25, includeArchived: true, sortBy: 'createdAt' } as const;
    assert.equal((await app.campaigns.list(actor, { ...query, tagIds })).items.length, 25);
    const unusedMs = await measureRemovals(unusedTags);
    const usedMs = await measureRemovals(tagIds);
    assert.ok(usedMs < MAX_RATIO * unusedMs, `${unusedMs.toFixed(2)} ms, and ${usedMs.toFixed(2)} ms`);
    assert.deepEqual((await app.campaigns.list(actor, { ...query, tagIds })).items, []);
    assert.deepEqual((await app.campaigns.list(actor, { ...query, tagNames: ['used 1'] })).items, []);
    await app.tags.create(workspaceId, 'USED 1');
  }),
});
