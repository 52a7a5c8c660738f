import type { Actor } from '../access/caller.ts';
import { findGroupReferenceErrors, requireGroups } from '../group/group-references.ts';
import type { GroupRepository } from '../group/group-repository.ts';
import { addValidRecords, type BatchResult } from '../shared/batch.ts';
import { applyChanges } from '../shared/changes.ts';
import { createInvalidFieldsError, requireFound } from '../shared/core-error.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { System } from '../shared/system.ts';
import {
  getAvailability,
  type InspirationQuestion,
  type InspirationQuestionChange,
  type NewInspirationQuestion,
  newInspirationQuestion,
} from './inspiration-question.ts';
import type { InspirationQuestionFilter, InspirationQuestionRepository } from './inspiration-question-repository.ts';

/** `availableToMe` limits the list to the questions that the actor can use (`getAvailability`). */
export type InspirationQuestionQuery = Omit<InspirationQuestionFilter, 'availability'> &
  PageRequest & { readonly availableToMe: boolean };

/** The use cases of inspiration questions. */
export class InspirationQuestionService {
  constructor(
    private readonly questions: InspirationQuestionRepository,
    private readonly groups: GroupRepository,
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
    const known = await this.groups.findKnownIds(workspaceId, ids);
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
    const { availableToMe, ...filter } = query;
    const availability = availableToMe ? getAvailability(actor) : undefined;
    return this.questions.page(actor.workspaceId, { ...filter, availability }, query);
  }

  /**
   * Updates a question. Rejects with `not_found` if the workspace does not have the question, otherwise with `invalid` if one
   * of the groups does not exist in the workspace.
   */
  async update(workspaceId: string, id: string, change: InspirationQuestionChange): Promise<InspirationQuestion> {
    if (change.groups?.length) {
      requireFound(await this.questions.findById(workspaceId, id), 'inspiration question');
      await requireGroups(this.groups, workspaceId, 'groups', change.groups);
    }
    const now = this.system.now();
    const apply = (question: InspirationQuestion): InspirationQuestion => applyChanges(question, change, now);
    return requireFound(await this.questions.update(workspaceId, id, apply), 'inspiration question');
  }

  /** Deletes a question. Rejects with `not_found` if the workspace does not have it. */
  async remove(workspaceId: string, id: string): Promise<void> {
    requireFound((await this.questions.remove(workspaceId, id)) || undefined, 'inspiration question');
  }

  private newQuestion(workspaceId: string, fields: NewInspirationQuestion): InspirationQuestion {
    return newInspirationQuestion(workspaceId, this.system.newId(), fields, this.system.now());
  }
}
