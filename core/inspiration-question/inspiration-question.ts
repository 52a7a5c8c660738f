import type { Actor } from '../shared/actor.ts';
import { type Changes, selectMissingDefaults } from '../shared/changes.ts';
import { formatTimestamp } from '../shared/date.ts';
import type { Entity } from '../shared/entity.ts';

export const USER_TYPES = ['thought_leader', 'advocate', 'all'] as const;
export type UserType = (typeof USER_TYPES)[number];

// biome-ignore format: one icon in a line would take a page
export const ICONS = [
  'bulb', 'sparkles', 'message', 'message-circle', 'pencil', 'writing', 'book', 'bookmark', 'star', 'heart',
  'target', 'rocket', 'briefcase', 'building', 'building-skyscraper', 'home', 'users', 'user', 'users-group',
  'speakerphone', 'send', 'mail', 'brand-linkedin', 'link', 'world', 'search', 'calendar', 'clock', 'chart-bar',
  'chart-line', 'chart-dots', 'chart-pie', 'trending-up', 'trophy', 'award', 'bolt', 'flame', 'sun', 'moon',
  'cloud', 'camera', 'microphone', 'video', 'photo', 'file-text', 'clipboard', 'check', 'circle-check', 'help',
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
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type InspirationQuestionChange = Changes<Omit<InspirationQuestion, keyof Entity | 'createdAt' | 'updatedAt'>>;
export type NewInspirationQuestionFields = InspirationQuestionChange & Pick<InspirationQuestion, 'question'>;

/** The optional fields of a question to create, with their defaults. */
const DEFAULTS = {
  description: '',
  icon: 'bulb',
  userType: 'all',
  groups: [],
  isActive: true,
  archived: false,
} as const satisfies Partial<InspirationQuestion>;

export function newInspirationQuestion(
  workspaceId: string,
  id: string,
  fields: NewInspirationQuestionFields,
  now: number,
): InspirationQuestion {
  const createdAt = formatTimestamp(now);
  return { id, workspaceId, createdAt, updatedAt: createdAt, ...fields, ...selectMissingDefaults(DEFAULTS, fields) };
}

/**
 * The user types and the groups of the questions that an actor can use. A question without groups is for members of all
 * groups.
 */
export interface Availability {
  readonly userTypes: readonly UserType[];
  readonly groupIds: readonly string[];
}

/**
 * Returns the user types and the groups of the questions that an actor can use, if these are active and not archived.
 * The user type of a question must be `all` or the seat type of the member. If the question has groups, the member must
 * be in one of them. An actor without a member can use only questions with the user type `all` and without groups.
 */
export function getAvailability({ member }: Actor): Availability {
  return member
    ? { userTypes: ['all', member.seatType], groupIds: member.groupIds }
    : { userTypes: ['all'], groupIds: [] };
}
