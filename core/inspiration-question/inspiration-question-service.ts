import type { Actor } from '../access/caller.ts';
import { findGroupReferenceErrors, type GroupRecordStore, requireGroups } from '../group/group.ts';
import { addValidRecords, type BatchResult } from '../shared/batch.ts';
import { applyChanges } from '../shared/changes.ts';
import { createInvalidFieldsError, requireFound } from '../shared/core-error.ts';
import { formatTimestamp } from '../shared/date.ts';
import { type Page, type PageRequest, readPage } from '../shared/page.ts';
import type { Condition } from '../shared/record-store.ts';
import { findKnownIds } from '../shared/references.ts';
import type { System } from '../shared/system.ts';
import { fold } from '../shared/text.ts';
import {
  buildAvailabilityConditions,
  deriveFields,
  type Icon,
  type InspirationQuestion,
  type InspirationQuestionRecordStore,
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

/** The use cases of inspiration questions. */
export class InspirationQuestionService {
  constructor(
    private readonly questions: InspirationQuestionRecordStore,
    private readonly groups: GroupRecordStore,
    private readonly system: System,
  ) {}

  /** Creates a question. Rejects with `invalid` if one of the groups does not exist in the workspace. */
  async create(workspaceId: string, fields: NewInspirationQuestion): Promise<InspirationQuestion> {
    await requireGroups(this.groups, workspaceId, 'groups', fields.groups);
    const created = this.newQuestion(workspaceId, fields);
    await this.questions.add(created);
    return created;
  }

  /** Checks a batch without storing it. Each result is the question to add, or the error of `create`. */
  async checkMany(
    workspaceId: string,
    batch: readonly NewInspirationQuestion[],
  ): Promise<readonly BatchResult<InspirationQuestion>[]> {
    const ids = batch.flatMap(({ groups = [] }) => groups);
    const known = await findKnownIds(this.groups, workspaceId, ids);
    return batch.map((fields) => {
      const errors = findGroupReferenceErrors(known, 'groups', fields.groups);
      return errors.length > 0 ? createInvalidFieldsError(errors) : this.newQuestion(workspaceId, fields);
    });
  }

  /** Creates a batch. With `ids`, the call can be retried (`addValidRecords` in batch.ts). */
  async createMany(
    workspaceId: string,
    batch: readonly NewInspirationQuestion[],
    ids?: readonly string[],
  ): Promise<readonly BatchResult<InspirationQuestion>[]> {
    return addValidRecords(this.questions, workspaceId, await this.checkMany(workspaceId, batch), ids);
  }

  /** Returns a page of the questions that match all filters, newest first. */
  async list(actor: Actor, query: InspirationQuestionQuery): Promise<Page<InspirationQuestion>> {
    const { search, userType, groupIds, includeArchived, isActive, availableToMe, ...page } = query;
    const where: Condition<InspirationQuestion>[] = availableToMe ? buildAvailabilityConditions(actor) : [];
    where.push({ field: 'archived', in: includeArchived ? [false, true] : [false] });
    if (isActive !== undefined) where.push({ field: 'isActive', is: isActive });
    if (userType) where.push({ field: 'userType', is: userType });
    if (groupIds) where.push({ field: 'groups', in: groupIds });
    if (search) where.push({ field: 'searchText', contains: fold(search) });
    return readPage(this.questions, actor.workspaceId, { where, by: 'createdAt', order: 'desc' }, page);
  }

  /**
   * Updates a question. Rejects with `not_found` if the workspace does not have the question, otherwise with `invalid` if one
   * of the groups does not exist in the workspace.
   */
  async update(workspaceId: string, id: string, change: InspirationQuestionChange): Promise<InspirationQuestion> {
    if (change.groups?.length) {
      requireFound(await this.questions.get(workspaceId, id), 'inspiration question');
      await requireGroups(this.groups, workspaceId, 'groups', change.groups);
    }
    const now = this.system.now();
    const apply = (question: InspirationQuestion): InspirationQuestion => {
      const next = applyChanges(question, change, now);
      return next === question ? question : { ...next, ...deriveFields(next) };
    };
    return requireFound(await this.questions.update(workspaceId, id, apply), 'inspiration question');
  }

  /** Deletes a question. Rejects with `not_found` if the workspace does not have it. */
  async remove(workspaceId: string, id: string): Promise<void> {
    requireFound((await this.questions.remove(workspaceId, id)) || undefined, 'inspiration question');
  }

  private newQuestion(workspaceId: string, fields: NewInspirationQuestion): InspirationQuestion {
    const { question, description = '', icon = 'bulb', userType = 'all', groups = [] } = fields;
    const { isActive = true, archived = false } = fields;
    const now = formatTimestamp(this.system.now());
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
