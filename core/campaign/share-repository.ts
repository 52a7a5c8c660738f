import type { Repository } from '../shared/repository.ts';
import type { Share } from './campaign.ts';

/** The shares of all workspaces. */
export interface ShareRepository extends Pick<Repository<Share>, 'add'> {
  /** Returns the positions of the member's shares of these campaigns, by the ids of the campaigns. */
  findPositions(
    workspaceId: string,
    memberId: string,
    campaignIds: readonly string[],
  ): Promise<ReadonlyMap<string, number>>;
}
