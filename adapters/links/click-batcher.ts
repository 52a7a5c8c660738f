import { randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import type { Link } from '../../core/link/link.ts';
import type { ClickBatch, ShareClicks } from '../../core/share/click-checkpoint.ts';
import type { ShareService } from '../../core/share/share-service.ts';
import { doNothing } from '../../core/shared/do-nothing.ts';

/**
 * The maximum number of links whose clicks are not stored yet. A link counts twice if it is clicked again while earlier
 * clicks on it are in a batch. If the maximum is reached, clicks on further links are dropped.
 */
export const MAX_PENDING_LINK_COUNT = 100_000;
/** The maximum number of links whose clicks are stored in one transaction. */
const MAX_BATCH_LINK_COUNT = 500;
/** The maximum number of workspaces whose clicks are stored at the same time. */
const MAX_CONCURRENT_WORKSPACE_COUNT = 8;

/** The clicks on the links of one workspace that are not stored yet. */
interface WorkspaceClicks {
  /** The clicks that are not in a batch, by the keys of their links. */
  readonly waiting: Map<string, ShareClicks>;
  /** The clicks that are being stored. After a failure they may be stored or not, so the same batch is tried again. */
  batch: ClickBatch | undefined;
}

/** Adds up clicks, and stores them in batches, so that a click delays no redirect. */
export class ClickBatcher {
  private readonly processId = randomUUID();
  private readonly workspaces = new Map<string, WorkspaceClicks>();
  private lastSequence = 0;
  private linkCount = 0;
  private clickCount = 0;
  private running: Promise<void> | undefined;

  constructor(private readonly shares: Pick<ShareService, 'addClicks'>) {}

  /** The number of clicks that are not stored yet. */
  get pendingClickCount(): number {
    return this.clickCount;
  }

  /** Counts a click on a link. Returns `false` if the click is dropped. */
  add({ key, workspaceId, campaignId, memberId }: Link): boolean {
    const workspace = this.workspaces.get(workspaceId) ?? { waiting: new Map(), batch: undefined };
    const clicks = workspace.waiting.get(key) ?? { campaignId, memberId, count: 0 };
    if (clicks.count === 0) {
      if (this.linkCount >= MAX_PENDING_LINK_COUNT) return false;
      this.linkCount++;
      workspace.waiting.set(key, clicks);
      this.workspaces.set(workspaceId, workspace);
    }
    clicks.count++;
    this.clickCount++;
    return true;
  }

  /**
   * Stores all clicks that were counted before the call. If some clicks cannot be stored, keeps them for the next call,
   * and rejects with the first error.
   */
  async flush(): Promise<void> {
    await this.running?.catch(doNothing);
    this.running ??= this.storeAll().finally(() => (this.running = undefined));
    await this.running;
  }

  private async storeAll(): Promise<void> {
    const limit = pLimit(MAX_CONCURRENT_WORKSPACE_COUNT);
    const results = await Promise.allSettled(
      Array.from(this.workspaces, ([id, workspace]) => limit(() => this.storeWorkspace(id, workspace))),
    );
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  private async storeWorkspace(workspaceId: string, workspace: WorkspaceClicks): Promise<void> {
    const { waiting } = workspace;
    // Clicks that are counted from now on may wait for the next call. Otherwise, a busy link would cause one write
    // after another.
    const batchCount = Math.ceil(waiting.size / MAX_BATCH_LINK_COUNT) + (workspace.batch ? 1 : 0);
    for (let i = 0; i < batchCount; i++) {
      workspace.batch ??= {
        workspaceId,
        processId: this.processId,
        sequence: ++this.lastSequence,
        clicks: take(waiting),
      };
      const { clicks } = workspace.batch;
      await this.shares.addClicks(workspace.batch);
      workspace.batch = undefined;
      this.linkCount -= clicks.length;
      for (const { count } of clicks) this.clickCount -= count;
    }
    if (waiting.size === 0) this.workspaces.delete(workspaceId);
  }
}

/** Removes the clicks of a batch, and returns them. */
function take(waiting: Map<string, ShareClicks>): ShareClicks[] {
  const taken: ShareClicks[] = [];
  for (const [key, clicks] of waiting) {
    if (taken.length === MAX_BATCH_LINK_COUNT) break;
    waiting.delete(key);
    taken.push(clicks);
  }
  return taken;
}
