import type { ActivityField, ActivityRepository } from '../activity/activity-repository.ts';
import type { CampaignRepository } from '../campaign/campaign-repository.ts';
import type { GroupRepository } from '../group/group-repository.ts';
import type { MemberRepository } from '../member/member-repository.ts';
import { formatUnits } from '../shared/amount.ts';
import { formatDay } from '../shared/date.ts';
import type { Entity } from '../shared/entity.ts';
import type { Page } from '../shared/page.ts';
import { findKnownIds } from '../shared/references.ts';
import type { FindFields } from '../shared/repository.ts';
import { sortInSteps } from '../shared/sort-in-steps.ts';
import type { Clock, System } from '../shared/system.ts';
import type { TagRepository } from '../tag/tag-repository.ts';
import {
  type AnalyticsGrouping,
  type AnalyticsQuery,
  type AnalyticsRow,
  addFigures,
  completeAnalyticsQuery,
  createComparison,
  type Figures,
} from './analytics.ts';

interface AnalyticsRepositories {
  readonly activity: ActivityRepository;
  readonly campaigns: CampaignRepository;
  readonly members: MemberRepository;
  readonly groups: GroupRepository;
  readonly tags: TagRepository;
}

/** The field of the activity that determines the key of a row. */
const keyFields: Readonly<Record<AnalyticsGrouping, ActivityField | undefined>> = {
  total: undefined,
  day: 'day',
  campaign: 'campaignId',
  tag: 'campaignId',
  member: 'memberId',
  group: 'memberId',
};

export class AnalyticsService {
  constructor(
    private readonly repositories: AnalyticsRepositories,
    private readonly system: Pick<System, 'pause'>,
    /** The clock that all processes share. */
    private readonly storageClock: Clock,
  ) {}

  /**
   * Returns a page of the sums of shares, clicks and rewards. A member counts for its present groups, and a campaign
   * for its present tags. Other requests can run meanwhile. Rejects with `invalid` if the range of days is not allowed.
   */
  async list(workspaceId: string, query: AnalyticsQuery): Promise<Page<AnalyticsRow>> {
    const complete = completeAnalyticsQuery(query, formatDay(this.storageClock.now()));
    const { groupBy, sortBy, sortOrder, page, pageSize } = complete;
    const figures = await this.addUp(workspaceId, complete);
    // Members keep the IDs of deleted groups, and campaigns those of deleted tags. These IDs have no row.
    const hasNamedRows = groupBy === 'group' || groupBy === 'tag';
    const existing = hasNamedRows ? await this.findNames(workspaceId, groupBy, figures) : undefined;
    const rows = existing ? figures.filter(({ key }) => existing.has(key)) : figures;
    const sorted = await sortInSteps(rows, createComparison(sortBy, sortOrder), this.system.pause);
    const found = sorted.slice((page - 1) * pageSize, page * pageSize);
    const names = existing ?? (await this.findNames(workspaceId, groupBy, found));
    const items = found.map(({ rewards, ...figures }) => {
      return { ...figures, name: names.get(figures.key) ?? '', rewards: formatUnits(rewards) };
    });
    return { items, hasNext: sorted.length > page * pageSize };
  }

  private async addUp(
    workspaceId: string,
    query: ReturnType<typeof completeAnalyticsQuery>,
  ): Promise<readonly Figures[]> {
    const { groupBy, days, campaignIds, memberIds, groupIds, tagIds, isAbandoned } = query;
    const { activity, campaigns, members, groups, tags } = this.repositories;
    const selectedGroups = groupIds && (await findKnownIds(groups, workspaceId, groupIds));
    const selectedTags = tagIds && (await findKnownIds(tags, workspaceId, tagIds));
    const findGroups = createIdFinder(selectedGroups, async (ids) =>
      (await members.findFields(workspaceId, ids, ['groupIds'])).map((it) => [it.id, it.groupIds]),
    );
    const findTags = createIdFinder(selectedTags, async (ids) =>
      (await campaigns.findFields(workspaceId, ids, ['tagIds'])).map((it) => [it.id, it.tagIds]),
    );
    const keyField = keyFields[groupBy];
    const needsGroups = groupBy === 'group' || groupIds !== undefined;
    const needsTags = groupBy === 'tag' || tagIds !== undefined;
    const needed = [keyField, needsGroups && 'memberId', needsTags && 'campaignId'] as const;
    const fields = [...new Set(needed)].filter((field) => field !== undefined && field !== false);
    const figures = new Map<string, Figures>();
    // The days of the range and the total have a row even if nothing happened.
    const keys = groupBy === 'day' ? days : groupBy === 'total' ? [''] : [];
    for (const key of keys) addFigures(figures, key, { shares: 0, clicks: 0, rewards: 0n });
    const filter = { days, campaignIds, memberIds };
    for await (const sums of activity.sum(workspaceId, filter, fields, isAbandoned)) {
      const groupsByMember = needsGroups ? await findGroups(sums.map(({ memberId }) => memberId)) : undefined;
      const tagsByCampaign = needsTags ? await findTags(sums.map(({ campaignId }) => campaignId)) : undefined;
      for (const sum of sums) {
        const groupsOfMember = groupsByMember?.get(sum.memberId);
        const tagsOfCampaign = tagsByCampaign?.get(sum.campaignId);
        if (groupsOfMember?.length === 0 || tagsOfCampaign?.length === 0) continue;
        const ids = groupBy === 'group' ? groupsOfMember : groupBy === 'tag' ? tagsOfCampaign : undefined;
        for (const key of ids ?? [keyField ? sum[keyField] : '']) addFigures(figures, key, sum);
      }
    }
    return [...figures.values()];
  }

  /** Returns the names of the records of rows, by their IDs. Records that do not exist are missing. */
  private async findNames(
    workspaceId: string,
    groupBy: AnalyticsGrouping,
    rows: readonly Figures[],
  ): Promise<ReadonlyMap<string, string>> {
    const { campaigns, members, groups, tags } = this.repositories;
    const repositories = { campaign: campaigns, member: members, group: groups, tag: tags };
    const repository = groupBy === 'day' || groupBy === 'total' ? undefined : repositories[groupBy];
    const find: FindFields<Entity & { readonly name: string }> | undefined = repository?.findFields;
    const keys = rows.map(({ key }) => key);
    const found = (await find?.(workspaceId, keys, ['name'])) ?? [];
    return new Map(found.map(({ id, name }) => [id, name]));
  }
}

/**
 * Returns a function that finds the IDs of the groups of members, or of the tags of campaigns. It reads those of each
 * owner once. If some are selected, it omits all others.
 */
function createIdFinder(
  selected: ReadonlySet<string> | undefined,
  find: (ownerIds: readonly string[]) => Promise<readonly (readonly [ownerId: string, ids: readonly string[]])[]>,
) {
  const byOwner = new Map<string, readonly string[]>();
  return async (ownerIds: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> => {
    const unknown = [...new Set(ownerIds)].filter((id) => !byOwner.has(id));
    for (const id of unknown) byOwner.set(id, []);
    for (const [id, ids] of await find(unknown)) {
      byOwner.set(id, selected ? ids.filter((it) => selected.has(it)) : ids);
    }
    return byOwner;
  };
}
