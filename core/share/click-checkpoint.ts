import { CLICK_CHECKPOINT_TTL_MS } from '../limits.ts';
import type { Entity } from '../shared/entity.ts';
import type { Share } from './share.ts';

/** The number of clicks on the link of a share. */
export interface ShareClicks extends Pick<Share, 'campaignId' | 'memberId'> {
  readonly count: number;
}

/** Clicks on the links of a workspace that are stored together. Each share occurs once. */
export interface ClickBatch {
  readonly workspaceId: string;
  /** Identifies the process that counted the clicks. */
  readonly processId: string;
  /** Greater than the numbers of all earlier batches of this process. */
  readonly sequence: number;
  readonly clicks: readonly ShareClicks[];
}

/** The last batch of clicks that a process has stored in a workspace. */
export interface ClickCheckpoint extends Entity {
  readonly sequence: number;
  /** Milliseconds since the epoch, on the clock of the storage. */
  readonly expiresAt: number;
}

export function createCheckpointId({ processId, workspaceId }: ClickBatch): string {
  return `${processId}/${workspaceId}`;
}

/** Returns the checkpoint to store together with a batch. `now` is the time of the storage. */
export function newClickCheckpoint(batch: ClickBatch, now: number): ClickCheckpoint {
  const { workspaceId, sequence } = batch;
  return { id: createCheckpointId(batch), workspaceId, sequence, expiresAt: now + CLICK_CHECKPOINT_TTL_MS };
}
