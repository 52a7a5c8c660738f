import type { InspirationQuestion } from '../../core/inspiration-question/inspiration-question.ts';
import type {
  InspirationQuestionFilter,
  InspirationQuestionRepository,
} from '../../core/inspiration-question/inspiration-question-repository.ts';
import { fold } from '../../core/shared/text.ts';
import { EVERYONE, toAudience } from './audience.ts';
import type { Condition, RecordStore } from './record-store.ts';
import { createRepository, readPage } from './repository.ts';
import { defineSchema } from './schema.ts';
import { buildSearchText } from './search-text.ts';

interface InspirationQuestionColumns {
  /** The IDs of the groups, or `EVERYONE`. */
  readonly audience: readonly string[];
  readonly searchText: string;
}

export type InspirationQuestionRecord = InspirationQuestion & InspirationQuestionColumns;

export const inspirationQuestionSchema = defineSchema<InspirationQuestion, InspirationQuestionColumns>({
  derived: {
    audience: ({ groups }) => toAudience(groups),
    searchText: ({ question, description }) => buildSearchText(question, description),
  },
  columns: {
    archived: 'boolean',
    isActive: 'boolean',
    userType: 'text',
    audience: 'texts',
    createdAt: 'text',
    searchText: 'text',
  },
  indexes: [
    ['archived', 'createdAt'],
    ['isActive', 'createdAt'],
    ['userType', 'createdAt'],
    ['audience', 'createdAt'],
  ],
});

export function createInspirationQuestionRepository(
  store: RecordStore<InspirationQuestionRecord>,
): InspirationQuestionRepository {
  return {
    findPage(workspaceId, filter, request) {
      const query = { where: toConditions(filter), by: 'createdAt', order: 'desc' } as const;
      return readPage(store, workspaceId, query, request, inspirationQuestionSchema.toEntity);
    },
    ...createRepository(store, inspirationQuestionSchema),
  };
}

function toConditions(filter: InspirationQuestionFilter): Condition<InspirationQuestionRecord>[] {
  const { availability, includeArchived, isActive, userType, groupIds, search } = filter;
  const where: Condition<InspirationQuestionRecord>[] = [];
  if (availability) {
    where.push({ field: 'isActive', in: [true] });
    where.push({ field: 'archived', in: [false] });
    where.push({ field: 'userType', in: availability.userTypes });
    where.push({ field: 'audience', in: [EVERYONE, ...availability.groupIds] });
  }
  if (!includeArchived) where.push({ field: 'archived', in: [false] });
  if (isActive !== undefined) where.push({ field: 'isActive', in: [isActive] });
  if (userType) where.push({ field: 'userType', in: [userType] });
  if (groupIds) where.push({ field: 'audience', in: groupIds });
  if (search) where.push({ field: 'searchText', contains: fold(search) });
  return where;
}
