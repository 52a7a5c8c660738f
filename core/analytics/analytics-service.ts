import type { ActivityField, ActivityRepository } from '../activity/activity-repository.ts';
import type { CampaignRepository } from '../campaign/campaign-repository.ts';
import type { GroupRepository } from '../group/group-repository.ts';
import type { MemberRepository } from '../member/member-repository.ts';
import { formatDay } from '../shared/date.ts';
import type { Page } from '../shared/page.ts';
import { findKnownIds } from '../shared/references.ts';
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
  createFigures,
  type Figures,
  toAnalyticsRow,
} from './analytics.ts';

interface AnalyticsRepositories {
  readonly activity: ActivityRepository;
  readonly campaigns: CampaignRepository;
  readonly members: MemberRepository;
  readonly groups: GroupRepository;
  readonly tags: TagRepository;
}

interface NamedRecords {
  findFields(workspaceId: string, ids: readonly string[], fields: typeof NAME): Promise<readonly NamedRecord[]>;
}

interface NamedRecord {
  readonly id: string;
  readonly name: string;
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

const NAME = ['name'] as const;
const GROUP_IDS = ['groupIds'] as const;
const TAG_IDS = ['tagIds'] as const;

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
    const items = found.map((row) => toAnalyticsRow(row, names.get(row.key) ?? ''));
    return { items, hasNext: sorted.length > page * pageSize };
  }

  private async addUp(
    workspaceId: string,
    {
      groupBy,
      days,
      campaignIds,
      memberIds,
      groupIds,
      tagIds,
      isAbandoned,
    }: AnalyticsQuery & { days: readonly string[] },
  ): Promise<readonly Figures[]> {
    const { activity, campaigns, members, groups, tags } = this.repositories;
    const findGroups = async (ids: readonly string[]) =>
      (await members.findFields(workspaceId, ids, GROUP_IDS)).map((it) => [it.id, it.groupIds] as const);
    const findTags = async (ids: readonly string[]) =>
      (await campaigns.findFields(workspaceId, ids, TAG_IDS)).map((it) => [it.id, it.tagIds] as const);
    const selectedGroups = groupIds && (await findKnownIds(groups, workspaceId, groupIds));
    const selectedTags = tagIds && (await findKnownIds(tags, workspaceId, tagIds));
    const memberGroups = groupIds || groupBy === 'group' ? new IdsByOwner(findGroups, selectedGroups) : undefined;
    const campaignTags = tagIds || groupBy === 'tag' ? new IdsByOwner(findTags, selectedTags) : undefined;
    const keyField = keyFields[groupBy];
    const needed = [keyField, memberGroups && 'memberId', campaignTags && 'campaignId'] as const;
    const fields = [...new Set(needed)].filter((field) => field !== undefined);
    const figures = createFigures(groupBy, days);
    const filter = { days, campaignIds, memberIds };
    for await (const sums of activity.sum(workspaceId, filter, fields, isAbandoned)) {
      await memberGroups?.load(sums.map(({ memberId }) => memberId));
      await campaignTags?.load(sums.map(({ campaignId }) => campaignId));
      for (const sum of sums) {
        const groupsOfMember = memberGroups?.get(sum.memberId);
        const tagsOfCampaign = campaignTags?.get(sum.campaignId);
        if (groupsOfMember?.length === 0 || tagsOfCampaign?.length === 0) continue;
        const keys = groupBy === 'group' ? groupsOfMember : groupBy === 'tag' ? tagsOfCampaign : undefined;
        for (const key of keys ?? [keyField ? sum[keyField] : '']) addFigures(figures, key, sum);
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
    const repository: NamedRecords | undefined = {
      ...{ total: undefined, day: undefined },
      ...{ campaign: campaigns, member: members, group: groups, tag: tags },
    }[groupBy];
    const keys = rows.map(({ key }) => key);
    const found = repository ? await repository.findFields(workspaceId, keys, NAME) : [];
    return new Map(found.map(({ id, name }) => [id, name]));
  }
}

/** The IDs of the groups of members, or of the tags of campaigns. If some are selected, it omits all others. */
class IdsByOwner {
  private readonly byOwner = new Map<string, readonly string[]>();

  constructor(
    private readonly find: (ownerIds: readonly string[]) => Promise<readonly (readonly [string, readonly string[]])[]>,
    private readonly selected: ReadonlySet<string> | undefined,
  ) {}

  /** Loads the IDs for the owners that are not loaded yet. */
  async load(ownerIds: readonly string[]): Promise<void> {
    const unknown = [...new Set(ownerIds)].filter((id) => !this.byOwner.has(id));
    for (const id of unknown) this.byOwner.set(id, []);
    for (const [id, found] of await this.find(unknown)) {
      this.byOwner.set(id, this.selected ? found.filter((it) => this.selected?.has(it)) : found);
    }
  }

  get(ownerId: string): readonly string[] {
    return this.byOwner.get(ownerId) ?? [];
  }
}
