import type { Actor } from '../access/caller.ts';
import type { Condition, Entity, RecordSchema, RecordStore } from '../shared/record-store.ts';
import { buildSearchText } from '../shared/text.ts';

export const USER_TYPES = ['thought_leader', 'advocate', 'all'] as const;
export type UserType = (typeof USER_TYPES)[number];

export const ICONS = [
  'bulb',
  'sparkles',
  'message',
  'message-circle',
  'pencil',
  'writing',
  'book',
  'bookmark',
  'star',
  'heart',
  'target',
  'rocket',
  'briefcase',
  'building',
  'building-skyscraper',
  'home',
  'users',
  'user',
  'users-group',
  'speakerphone',
  'send',
  'mail',
  'brand-linkedin',
  'link',
  'world',
  'search',
  'calendar',
  'clock',
  'chart-bar',
  'chart-line',
  'chart-dots',
  'chart-pie',
  'trending-up',
  'trophy',
  'award',
  'bolt',
  'flame',
  'sun',
  'moon',
  'cloud',
  'camera',
  'microphone',
  'video',
  'photo',
  'file-text',
  'clipboard',
  'check',
  'circle-check',
  'help',
  'question-mark',
] as const;
export type Icon = (typeof ICONS)[number];

/** A prompt that helps members write a post. The flags `isActive` and `archived` are independent of each other. */
export interface InspirationQuestion extends Entity {
  readonly question: string;
  readonly description: string;
  readonly icon: Icon;
  readonly userType: UserType;
  readonly groups: readonly string[];
  readonly isActive: boolean;
  readonly archived: boolean;
  readonly audience: readonly string[];
  readonly searchText: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type InspirationQuestionRecordStore = RecordStore<InspirationQuestion>;

export const inspirationQuestionSchema: RecordSchema<InspirationQuestion> = {
  name: 'inspirationQuestions',
  unique: {},
  indexes: [
    ['archived', 'createdAt'],
    ['isActive', 'createdAt'],
    ['userType', 'createdAt'],
    ['groups', 'createdAt'],
    ['audience', 'createdAt'],
  ],
};

export const QUESTION_LENGTH = { min: 10, max: 170 };

/** The audience of a question that is not limited to groups. */
const EVERYONE = 'everyone';

/** Returns the fields that are derived from others: the audience of the question, and its text for searches. */
export function deriveFields({
  groups,
  question,
  description,
}: Pick<InspirationQuestion, 'groups' | 'question' | 'description'>) {
  return {
    audience: groups.length === 0 ? [EVERYONE] : groups,
    searchText: buildSearchText(question, description),
  };
}

/**
 * Returns the conditions that a question must meet to be available to an actor. The question is active and not archived. Its
 * user type is `all` or the seat type of the member. Its audience is everyone or a group of the member. For an actor without a
 * member, its user type is `all` and its audience is everyone.
 */
export function buildAvailabilityConditions({ member }: Actor): Condition<InspirationQuestion>[] {
  return [
    { field: 'isActive', is: true },
    { field: 'archived', is: false },
    { field: 'userType', in: member ? ['all', member.seatType] : ['all'] },
    { field: 'audience', in: [EVERYONE, ...(member?.groupIds ?? [])] },
  ];
}
