import type { Actor } from '../access/caller.ts';
import { type GroupRepository, groupReferenceErrors, requireGroups } from '../group/group.ts';
import { addAll, type BatchResult } from '../shared/batch.ts';
import { withChanges } from '../shared/changes.ts';
import { invalidFields, requireFound } from '../shared/core-error.ts';
import { timestamp } from '../shared/date.ts';
import { type Page, type PageRequest, readPage } from '../shared/page.ts';
import type { Condition } from '../shared/record-store.ts';
import { knownIds } from '../shared/references.ts';
import type { System } from '../shared/system.ts';
import { fold } from '../shared/text.ts';
import {
  availabilityConditions,
  deriveFields,
  type Icon,
  type InspirationQuestion,
  type InspirationQuestionRepository,
  type UserType,
} from './inspiration-question.ts';

export interface InspirationQuestionChange {
  readonly question?: string | undefined;
  readonly description?: string | undefined;
  readonly icon?: Icon | undefined;
  readonly userType?: UserType | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly isActive?: boolean | undefined;
  readonly archived?: boolean | undefined;
}

export type NewInspirationQuestion = InspirationQuestionChange & { readonly question: string };

export interface InspirationQuestionQuery extends PageRequest {
  readonly search?: string | undefined;
  readonly userType?: UserType | undefined;
  readonly groupIds?: readonly string[] | undefined;
  readonly includeArchived: boolean;
  readonly isActive?: boolean | undefined;
  readonly availableToMe: boolean;
}

export class InspirationQuestionService {
  constructor(
    private readonly questions: InspirationQuestionRepository,
    private readonly groups: GroupRepository,
    private readonly system: System,
  ) {}

  /** Refuses with `invalid` groups that the workspace does not have. */
  async create(workspaceId: string, fields: NewInspirationQuestion): Promise<InspirationQuestion> {
    await requireGroups(this.groups, workspaceId, 'groups', fields.groups);
    const created = this.newQuestion(workspaceId, fields);
    await this.questions.add(created);
    return created;
  }

  /** What `createMany` would make of a batch, which it refuses as `create` does one by one. */
  async checkMany(
    workspaceId: string,
    batch: readonly NewInspirationQuestion[],
  ): Promise<readonly BatchResult<InspirationQuestion>[]> {
    const ids = batch.flatMap(({ groups = [] }) => groups);
    const known = await knownIds(this.groups, workspaceId, ids);
    return batch.map((fields) => {
      const faults = groupReferenceErrors(known, 'groups', fields.groups);
      return faults.length > 0 ? invalidFields(faults) : this.newQuestion(workspaceId, fields);
    });
  }

  /** Creates a batch. With `ids`, it can be retried (batch.ts). */
  async createMany(
    workspaceId: string,
    batch: readonly NewInspirationQuestion[],
    ids?: readonly string[],
  ): Promise<readonly BatchResult<InspirationQuestion>[]> {
    return addAll(this.questions, workspaceId, await this.checkMany(workspaceId, batch), ids);
  }

  /** Newest first. */
  async list(actor: Actor, query: InspirationQuestionQuery): Promise<Page<InspirationQuestion>> {
    const { search, userType, groupIds, includeArchived, isActive, availableToMe, ...page } = query;
    const where: Condition<InspirationQuestion>[] = availableToMe ? availabilityConditions(actor) : [];
    where.push({ field: 'archived', in: includeArchived ? [false, true] : [false] });
    if (isActive !== undefined) where.push({ field: 'isActive', is: isActive });
    if (userType) where.push({ field: 'userType', is: userType });
    if (groupIds) where.push({ field: 'groups', in: groupIds });
    if (search) where.push({ field: 'searchText', contains: fold(search) });
    return readPage(this.questions, actor.workspaceId, { where, by: 'createdAt', order: 'desc' }, page);
  }

  /** Refuses with `not_found` before it looks at the groups, then with `invalid` groups that the workspace has not. */
  async update(workspaceId: string, id: string, change: InspirationQuestionChange): Promise<InspirationQuestion> {
    if (change.groups?.length) {
      requireFound(await this.questions.get(workspaceId, id), 'inspiration question');
      await requireGroups(this.groups, workspaceId, 'groups', change.groups);
    }
    const now = this.system.now();
    const apply = (question: InspirationQuestion): InspirationQuestion => {
      const next = withChanges(question, change, now);
      return next === question ? question : { ...next, ...deriveFields(next) };
    };
    return requireFound(await this.questions.update(workspaceId, id, apply), 'inspiration question');
  }

  async remove(workspaceId: string, id: string): Promise<void> {
    requireFound((await this.questions.remove(workspaceId, id)) || undefined, 'inspiration question');
  }

  private newQuestion(workspaceId: string, fields: NewInspirationQuestion): InspirationQuestion {
    const { question, description = '', icon = 'bulb', userType = 'all', groups = [] } = fields;
    const { isActive = true, archived = false } = fields;
    const now = timestamp(this.system.now());
    return {
      id: this.system.newId(),
      workspaceId,
      question,
      description,
      icon,
      userType,
      groups,
      isActive,
      archived,
      ...deriveFields({ groups, question, description }),
      createdAt: now,
      updatedAt: now,
    };
  }
}
