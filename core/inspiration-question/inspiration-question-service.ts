import type { Actor } from '../access/caller.ts';
import { findGroupReferenceErrors, requireGroups } from '../group/group-references.ts';
import { addValidEntities, type BatchResult, isRejected } from '../shared/batch.ts';
import { applyChanges } from '../shared/changes.ts';
import { createInvalidFieldsError, requireFound } from '../shared/core-error.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import { findKnownIds } from '../shared/references.ts';
import type { System } from '../shared/system.ts';
import type { Storage } from '../storage.ts';
import {
  getAvailability,
  type InspirationQuestion,
  type InspirationQuestionChange,
  type NewInspirationQuestionFields,
  newInspirationQuestion,
} from './inspiration-question.ts';
import type { InspirationQuestionFilter } from './inspiration-question-repository.ts';

/** `availableToMe` limits the list to the questions that the actor can use (`getAvailability`). */
export type InspirationQuestionQuery = Omit<InspirationQuestionFilter, 'availability'> &
  PageRequest & { readonly availableToMe: boolean };

/** The use cases of inspiration questions. */
export class InspirationQuestionService {
  constructor(
    private readonly storage: Storage,
    private readonly system: System,
  ) {}

  /** Creates a question. Rejects with `invalid` if one of the groups does not exist in the workspace. */
  async create(workspaceId: string, fields: NewInspirationQuestionFields): Promise<InspirationQuestion> {
    const [question] = (await this.buildMany(workspaceId, [fields])) as [BatchResult<InspirationQuestion>];
    if (isRejected(question)) throw question;
    await this.storage.inspirationQuestions.add(question);
    return question;
  }

  /** Checks a batch without storing it. Each result is the question to add, or the error with which `create` would reject. */
  async buildMany(
    workspaceId: string,
    batch: readonly NewInspirationQuestionFields[],
  ): Promise<readonly BatchResult<InspirationQuestion>[]> {
    const ids = batch.flatMap(({ groups = [] }) => groups);
    const known = await findKnownIds(this.storage.groups, workspaceId, ids);
    return batch.map((fields) => {
      const errors = findGroupReferenceErrors(known, 'groups', fields.groups);
      return errors.length > 0
        ? createInvalidFieldsError(errors)
        : newInspirationQuestion(workspaceId, this.system.newId(), fields, this.system.now());
    });
  }

  /**
   * Creates a batch. If `ids` are given, the questions get these IDs, so that a retry with the same IDs adds none of them twice
   * (`addValidEntities` in batch.ts).
   */
  async createMany(
    workspaceId: string,
    batch: readonly NewInspirationQuestionFields[],
    ids?: readonly string[],
  ): Promise<readonly BatchResult<InspirationQuestion>[]> {
    return addValidEntities(
      this.storage.inspirationQuestions,
      workspaceId,
      await this.buildMany(workspaceId, batch),
      ids,
    );
  }

  /** Returns a question. Rejects with `not_found` if the workspace does not have it. */
  async get(workspaceId: string, id: string): Promise<InspirationQuestion> {
    return requireFound(await this.storage.inspirationQuestions.findById(workspaceId, id), 'inspiration question');
  }

  /** Returns a page of the questions that match all filters, newest first. */
  async list(actor: Actor, query: InspirationQuestionQuery): Promise<Page<InspirationQuestion>> {
    const { availableToMe, ...filter } = query;
    const availability = availableToMe ? getAvailability(actor) : undefined;
    return this.storage.inspirationQuestions.findPage(actor.workspaceId, { ...filter, availability }, query);
  }

  /**
   * Updates a question. Rejects with `not_found` if the workspace does not have the question, otherwise with `invalid` if one
   * of the groups does not exist in the workspace.
   */
  async update(workspaceId: string, id: string, change: InspirationQuestionChange): Promise<InspirationQuestion> {
    if (change.groups?.length) {
      requireFound(await this.storage.inspirationQuestions.findById(workspaceId, id), 'inspiration question');
      await requireGroups(this.storage.groups, workspaceId, 'groups', change.groups);
    }
    const now = this.system.now();
    const apply = (question: InspirationQuestion): InspirationQuestion => applyChanges(question, change, now);
    return requireFound(await this.storage.inspirationQuestions.update(workspaceId, id, apply), 'inspiration question');
  }

  /** Deletes a question. Rejects with `not_found` if the workspace does not have it. */
  async remove(workspaceId: string, id: string): Promise<void> {
    requireFound(
      (await this.storage.inspirationQuestions.remove(workspaceId, id)) || undefined,
      'inspiration question',
    );
  }
}
