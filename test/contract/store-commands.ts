import type { CampaignRecord } from '../../adapters/persistence/campaigns.ts';
import type { StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import { buildTag, samples } from './samples.ts';

const CHANGE_DURATION_MS = 2;

/** Blocks this process, so that another process can read the same value if an update is not atomic. */
function waitInChange(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, CHANGE_DURATION_MS);
}

/** Commands that use an engine, in this process or in another one (store-process.ts). */
export const storeCommands = {
  /** Calls a method of a record store. */
  call: (engine: StorageEngine, store: keyof typeof samples, method: 'add' | 'get' | 'remove', ...args: unknown[]) =>
    (engine[store][method] as (...args: unknown[]) => Promise<unknown>)(...args),

  /** Adds clicks to a campaign, one by one. */
  async click(engine: StorageEngine, workspaceId: string, campaignId: string, count: number) {
    for (let i = 0; i < count; i++) {
      await engine.campaigns.update(workspaceId, campaignId, (it) => {
        waitInChange();
        return { ...it, clicks: it.clicks + 1 };
      });
    }
  },

  /** Adds shares one by one. Each transaction adds a share, and increments `shares` of the campaign. */
  async share(engine: StorageEngine, workspaceId: string, campaignId: string, count: number) {
    for (let i = 0; i < count; i++) {
      await engine.runInTransaction(async ({ campaigns, shares }) => {
        const campaign = (await campaigns.get(workspaceId, campaignId)) as CampaignRecord;
        await shares.add(samples.shares(workspaceId) as never);
        await campaigns.update(workspaceId, campaignId, (it) => ({ ...it, shares: campaign.shares + 1 }));
      });
    }
  },

  /** Claims slugs for a workspace. Returns those that no other workspace has claimed. */
  async claim(engine: StorageEngine, workspaceId: string, slugs: readonly string[]) {
    const claim = (id: string) => engine.verifiedSlugs.add({ id, workspaceId, domainId: id });
    const outcomes = await Promise.allSettled(slugs.map(claim));
    return slugs.filter((_, i) => outcomes[i]?.status === 'fulfilled');
  },

  /** Changes a campaign and adds a tag in a transaction that never ends. Resolves while the transaction is open. */
  startTransaction: (engine: StorageEngine, workspaceId: string, campaignId: string) =>
    new Promise<void>((resolve, reject) => {
      const work = engine.runInTransaction(async ({ campaigns, tags }) => {
        await campaigns.update(workspaceId, campaignId, (it) => ({ ...it, clicks: 1 }));
        await tags.add(buildTag(workspaceId, 'uncommitted'));
        resolve();
        await new Promise(() => undefined);
      });
      work.catch(reject);
    }),
};
