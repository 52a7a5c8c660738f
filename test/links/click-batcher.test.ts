import assert from 'node:assert/strict';
import { ClickBatcher, MAX_PENDING_LINK_COUNT } from '../../adapters/links/click-batcher.ts';
import { createNodeSystem } from '../../adapters/node/system.ts';
import { Application, type Storage } from '../../core/application.ts';
import type { Link } from '../../core/link/link.ts';
import { testCore } from '../support/core.ts';
import { suite } from '../support/suite.ts';
import { createCampaignFields, createWorkspace } from '../support/tenants.ts';

/** The fault of a transaction. */
type Fault = 'fails' | 'succeeds, but its outcome is unknown';

interface Setup {
  readonly batcher: ClickBatcher;
  /** The faults of the next transactions, in order. */
  readonly faults: Fault[];
  /** Called when a transaction has been stored. */
  readonly onStored: (() => void)[];
  /** The links of different members to one campaign. */
  readonly links: readonly Link[];
  /** Returns the clicks of the campaign, and of each share. */
  readClicks(): Promise<{ campaign: number; shares: readonly number[] }>;
}

async function setUp(memberCount: number): Promise<Setup> {
  const { app, storage } = testCore();
  const { workspaceId, admin: member } = await createWorkspace(app);
  const { id: campaignId } = await app.campaigns.create({ workspaceId, member }, createCampaignFields());
  const links: Link[] = [];
  for (let i = 0; i < memberCount; i++) {
    const sharer = await app.members.create(workspaceId, { name: 'Ada', email: `ada${i}@x.example` });
    await app.shares.create({ workspaceId, member: sharer }, campaignId);
    links.push({ key: String(i), workspaceId, campaignId, memberId: sharer.id });
  }
  const [faults, onStored]: [Fault[], (() => void)[]] = [[], []];
  const unreliable: Storage = {
    ...storage,
    unitOfWork: {
      async run(work) {
        const fault = faults.shift();
        if (fault === 'fails') throw new Error(fault);
        const result = await storage.unitOfWork.run(work);
        for (const call of onStored) call();
        if (fault) throw new Error(fault);
        return result;
      },
    },
  };
  return {
    batcher: new ClickBatcher(new Application(unreliable, createNodeSystem()).shares),
    faults,
    onStored,
    links,
    async readClicks() {
      const query = { page: 1, pageSize: 100, sortBy: 'createdAt', sortOrder: 'asc' } as const;
      const [first, second] = await Promise.all(
        [1, 2].map((page) => app.shares.list(workspaceId, campaignId, { ...query, page })),
      );
      const shares = [...(first?.items ?? []), ...(second?.items ?? [])];
      const clicks = new Map(shares.map((share) => [share.memberId, share.clicks]));
      const { clicks: campaign } = await app.campaigns.get({ workspaceId, member }, campaignId);
      return { campaign, shares: links.map(({ memberId }) => clicks.get(memberId) ?? -1) };
    },
  };
}

suite('a click batcher', {
  'stores the clicks of shares and of their campaign': async () => {
    const { batcher, links, readClicks } = await setUp(150);
    for (const [i, link] of links.entries()) for (let j = 0; j <= i % 3; j++) batcher.add(link);
    assert.equal(batcher.pendingClickCount, 300);
    await batcher.flush();
    assert.equal(batcher.pendingClickCount, 0);
    assert.deepEqual(await readClicks(), { campaign: 300, shares: links.map((_, i) => 1 + (i % 3)) });
  },

  'stores each click once, also if the outcome of a transaction is unknown': async () => {
    for (const fault of ['fails', 'succeeds, but its outcome is unknown'] as const) {
      const { batcher, faults, links, readClicks } = await setUp(2);
      const [first, second] = links as [Link, Link];
      batcher.add(first);
      faults.push(fault);
      await assert.rejects(batcher.flush(), new RegExp(fault));
      assert.equal(batcher.pendingClickCount, 1);
      batcher.add(first);
      batcher.add(second);
      await batcher.flush();
      assert.deepEqual([await readClicks(), batcher.pendingClickCount], [{ campaign: 3, shares: [2, 1] }, 0], fault);
    }
  },

  'keeps a click that is added during a flush, and stores it in the next flush': async () => {
    const { batcher, onStored, links, readClicks } = await setUp(1);
    const [link] = links as [Link];
    const laterFlushes: Promise<void>[] = [];
    onStored.push(() => {
      onStored.length = 0;
      batcher.add(link);
      laterFlushes.push(batcher.flush());
    });
    batcher.add(link);
    await batcher.flush();
    await Promise.all(laterFlushes);
    assert.deepEqual([laterFlushes.length, await readClicks()], [1, { campaign: 2, shares: [2] }]);
  },

  'drops clicks on further links, but not on waiting links, if too many links wait for the next flush': async () => {
    const { batcher, links } = await setUp(1);
    const [link] = links as [Link];
    for (let i = 0; i < MAX_PENDING_LINK_COUNT; i++) batcher.add({ ...link, key: `link${i}` });
    assert.equal(batcher.add(link), false);
    assert.equal(batcher.add({ ...link, key: 'link7' }), true);
    assert.equal(batcher.pendingClickCount, MAX_PENDING_LINK_COUNT + 1);
  },
});
