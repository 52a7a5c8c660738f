import { findExistingGroupIds, requireGroups, selectExistingGroups } from '../group/group-references.ts';
import type { GroupRepository } from '../group/group-repository.ts';
import type { Actor } from '../shared/actor.ts';
import { applyChanges, isSameValue } from '../shared/changes.ts';
import { createNotFoundError, requireFound } from '../shared/core-error.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { System } from '../shared/system.ts';
import {
  getAvailability,
  type InspirationQuestion,
  type InspirationQuestionChange,
  type NewInspirationQuestionFields,
  newInspirationQuestion,
} from './inspiration-question.ts';
import type { InspirationQuestionFilter, InspirationQuestionRepository } from './inspiration-question-repository.ts';

/** `availableToMe` limits the list to the questions that the actor can use (`getAvailability`). */
export type InspirationQuestionQuery = Omit<InspirationQuestionFilter, 'availability'> &
  PageRequest & { readonly availableToMe: boolean };

export class InspirationQuestionService {
  constructor(
    private readonly questions: InspirationQuestionRepository,
    private readonly groups: GroupRepository,
    private readonly system: System,
  ) {}

  /** Creates a question. Rejects with `invalid` if one of the groups does not exist in the workspace. */
  async create(workspaceId: string, fields: NewInspirationQuestionFields): Promise<InspirationQuestion> {
    await requireGroups(this.groups, workspaceId, 'groups', fields.groups);
    const question = newInspirationQuestion(workspaceId, this.system.newId(), fields, this.system.now());
    await this.questions.add(question);
    return question;
  }

  async get(workspaceId: string, id: string): Promise<InspirationQuestion> {
    return requireFound(await this.questions.findById(workspaceId, id), 'inspiration question');
  }

  async list(actor: Actor, query: InspirationQuestionQuery): Promise<Page<InspirationQuestion>> {
    const { availableToMe, ...filter } = query;
    const { workspaceId } = actor;
    const availability = availableToMe ? getAvailability(await selectExistingGroups(this.groups, actor)) : undefined;
    const groupIds = await findExistingGroupIds(this.groups, workspaceId, filter.groupIds);
    return this.questions.findPage(workspaceId, { ...filter, groupIds, availability }, query);
  }

  /** Rejects with `invalid` if one of the groups does not exist in the workspace. */
  async update(workspaceId: string, id: string, change: InspirationQuestionChange): Promise<InspirationQuestion> {
    if (change.groups?.length) {
      const { groups } = await this.get(workspaceId, id);
      if (!isSameValue(change.groups, groups)) {
        await requireGroups(this.groups, workspaceId, 'groups', change.groups);
      }
    }
    const now = this.system.now();
    const apply = (question: InspirationQuestion): InspirationQuestion => applyChanges(question, change, now);
    return requireFound(await this.questions.update(workspaceId, id, apply), 'inspiration question');
  }

  async remove(workspaceId: string, id: string): Promise<void> {
    if (!(await this.questions.remove(workspaceId, id))) throw createNotFoundError('inspiration question');
  }
}
