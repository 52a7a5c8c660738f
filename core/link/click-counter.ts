import { createShareId } from '../share/share.ts';
import { doNothing } from '../shared/do-nothing.ts';
import type { Entity } from '../shared/entity.ts';
import type { System } from '../shared/system.ts';
import type { Storage } from '../storage.ts';
import { newClickWriter } from './click-writer.ts';
import type { Link } from './link.ts';

/**
 * The maximum number of links whose clicks are not stored yet. A link counts twice if it is clicked again while earlier clicks on
 * it are in a batch. If the maximum is reached, a click is dropped unless earlier clicks on its link are waiting for a batch.
 */
export const MAX_PENDING_LINK_COUNT = 100_000;
/** The maximum number of links whose clicks are stored in one transaction. */
const MAX_BATCH_LINK_COUNT = 500;
/** The maximum number of workspaces whose clicks are stored at the same time. */
const MAX_CONCURRENT_WORKSPACE_COUNT = 8;

/** The clicks on a link. */
interface LinkClicks extends Pick<Link, 'campaignId' | 'memberId'> {
  count: number;
}

/** The clicks on the links of one workspace that are not stored yet. */
interface WorkspaceClicks {
  /** The clicks that are not in a batch, by the IDs of their shares. */
  readonly waiting: Map<string, LinkClicks>;
  /** The clicks that are being stored. After a failure they may be stored or not, so the same batch is tried again. */
  batch: { readonly sequence: number; readonly clicks: readonly LinkClicks[] } | undefined;
}

/**
 * Adds up clicks, and stores them in batches. No batch is stored twice, even if the outcome of an attempt was unknown. The transaction of a
 * batch also stores the number of the batch, and skips a batch whose number is stored already.
 */
export class ClickCounter {
  private readonly workspaces = new Map<string, WorkspaceClicks>();
  private writerId: string | undefined;
  private lastSequence = 0;
  private linkCount = 0;
  private clickCount = 0;
  private running: Promise<void> | undefined;

  constructor(
    private readonly storage: Storage,
    private readonly system: Pick<System, 'newId'>,
  ) {}

  /** The number of clicks that are not stored yet. */
  get pendingCount(): number {
    return this.clickCount;
  }

  /** Counts a click on a link. Returns `false` if the click is dropped, because the clicks on too many links are not stored yet. */
  add({ workspaceId, campaignId, memberId }: Link): boolean {
    const workspace = this.workspaces.get(workspaceId) ?? { waiting: new Map(), batch: undefined };
    const shareId = createShareId(memberId, campaignId);
    const clicks = workspace.waiting.get(shareId) ?? { campaignId, memberId, count: 0 };
    if (clicks.count === 0) {
      if (this.linkCount >= MAX_PENDING_LINK_COUNT) return false;
      this.linkCount++;
      workspace.waiting.set(shareId, clicks);
      this.workspaces.set(workspaceId, workspace);
    }
    clicks.count++;
    this.clickCount++;
    return true;
  }

  /**
   * Stores all clicks that were counted before the call. If some clicks cannot be stored, keeps them for the next call, and rejects
   * with the first error.
   */
  async flush(): Promise<void> {
    await this.running?.catch(doNothing);
    this.running ??= this.storeAll().finally(() => (this.running = undefined));
    await this.running;
  }

  private async storeAll(): Promise<void> {
    const workspaceIds = [...this.workspaces.keys()];
    const errors: unknown[] = [];
    const storeNext = async () => {
      for (let id = workspaceIds.pop(); id !== undefined; id = workspaceIds.pop()) {
        await this.storeWorkspace(id).catch((error) => errors.push(error));
      }
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT_WORKSPACE_COUNT }, storeNext));
    if (errors.length > 0) throw errors[0];
  }

  private async storeWorkspace(workspaceId: string): Promise<void> {
    const workspace = this.workspaces.get(workspaceId) as WorkspaceClicks;
    const { waiting } = workspace;
    // Clicks that are counted from now on may wait for the next call, so that a busy link does not cause one write after another.
    const batchCount = Math.ceil(waiting.size / MAX_BATCH_LINK_COUNT) + (workspace.batch ? 1 : 0);
    for (let i = 0; i < batchCount; i++) {
      workspace.batch ??= { sequence: ++this.lastSequence, clicks: takeSome(waiting, MAX_BATCH_LINK_COUNT) };
      const { sequence, clicks } = workspace.batch;
      await this.storeBatch(workspaceId, sequence, clicks);
      workspace.batch = undefined;
      this.linkCount -= clicks.length;
      this.clickCount -= sumClicks(clicks);
    }
    if (waiting.size === 0) this.workspaces.delete(workspaceId);
  }

  private storeBatch(workspaceId: string, sequence: number, clicks: readonly LinkClicks[]): Promise<void> {
    this.writerId ??= this.system.newId();
    const id = `${this.writerId}/${workspaceId}`;
    return this.storage.runInTransaction(async ({ clickWriters, campaigns, shares }) => {
      const writer = await clickWriters.findById(workspaceId, id);
      if (writer && writer.sequence >= sequence) return;
      const [byCampaign, byShare] = [new Map<string, number>(), new Map<string, number>()];
      for (const { campaignId, memberId, count } of clicks) {
        byCampaign.set(campaignId, (byCampaign.get(campaignId) ?? 0) + count);
        byShare.set(createShareId(memberId, campaignId), count);
      }
      await campaigns.updateMany(workspaceId, [...byCampaign.keys()], addClicks(byCampaign));
      await shares.updateMany(workspaceId, [...byShare.keys()], addClicks(byShare));
      const next = newClickWriter(workspaceId, id, sequence, this.storage.now());
      if (writer) await clickWriters.update(workspaceId, id, () => next);
      else await clickWriters.add(next);
    });
  }
}

/** Returns a function that adds the clicks on a campaign or a share to it. `counts` has them by ID. */
function addClicks(counts: ReadonlyMap<string, number>) {
  return <T extends Entity & { readonly clicks: number }>(it: T): T => ({
    ...it,
    clicks: it.clicks + (counts.get(it.id) ?? 0),
  });
}

/** Removes up to `count` of the oldest values from a map, and returns them. */
function takeSome<K, V>(map: Map<K, V>, count: number): V[] {
  const values: V[] = [];
  for (const [key, value] of map) {
    if (values.length === count) break;
    map.delete(key);
    values.push(value);
  }
  return values;
}

function sumClicks(clicks: readonly LinkClicks[]): number {
  return clicks.reduce((sum, { count }) => sum + count, 0);
}
