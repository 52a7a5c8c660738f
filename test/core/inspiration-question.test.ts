import assert from 'node:assert/strict';
import { matches } from '../../adapters/memory/table.ts';
import type { Member } from '../../core/access/member.ts';
import {
  buildAvailabilityConditions,
  deriveFields,
  type InspirationQuestion,
} from '../../core/inspiration-question/inspiration-question.ts';
import { suite } from '../support/suite.ts';

const callers = {
  'an advocate of group a': { seatType: 'advocate', groupIds: ['a'] },
  'an advocate of groups a and b': { seatType: 'advocate', groupIds: ['a', 'b'] },
  'an advocate of no group': { seatType: 'advocate', groupIds: [] },
  'a thought leader of group a': { seatType: 'thought_leader', groupIds: ['a'] },
  'no member': undefined,
} as const;

type CallerName = keyof typeof callers;
type Fields = Partial<Pick<InspirationQuestion, 'userType' | 'groups' | 'isActive' | 'archived'>>;

const everyone = Object.keys(callers) as CallerName[];

/** Fields of a question, and the callers that it is available to. By default, it is active, not archived, and open to all. */
const questions: readonly (readonly [Fields, readonly CallerName[]])[] = [
  [{}, everyone],
  [{ isActive: false }, []],
  [{ archived: true }, []],
  [{ isActive: false, archived: true }, []],
  [{ userType: 'advocate' }, ['an advocate of group a', 'an advocate of groups a and b', 'an advocate of no group']],
  [{ userType: 'thought_leader' }, ['a thought leader of group a']],
  [{ groups: ['a'] }, ['an advocate of group a', 'an advocate of groups a and b', 'a thought leader of group a']],
  [{ groups: ['b'] }, ['an advocate of groups a and b']],
  [{ groups: ['a', 'c'] }, ['an advocate of group a', 'an advocate of groups a and b', 'a thought leader of group a']],
  [{ groups: ['c'] }, []],
  [{ userType: 'advocate', groups: ['a'] }, ['an advocate of group a', 'an advocate of groups a and b']],
  [{ userType: 'thought_leader', groups: ['b'] }, []],
  [{ userType: 'advocate', groups: ['b'], isActive: false }, []],
];

function createQuestion({
  userType = 'all',
  groups = [],
  isActive = true,
  archived = false,
}: Fields): InspirationQuestion {
  const texts = { groups, question: 'What did you learn today?', description: '' };
  return { ...texts, ...deriveFields(texts), userType, isActive, archived } as unknown as InspirationQuestion;
}

suite('an inspiration question', {
  'is available while active and not archived, to members by seat type and group, to other callers only if open to all':
    () => {
      for (const [fields, expected] of questions) {
        const available = everyone.filter((name) => {
          const member = callers[name] as Member | undefined;
          return buildAvailabilityConditions({ workspaceId: 'own', member }).every((condition) =>
            matches(createQuestion(fields), condition),
          );
        });
        assert.deepEqual(available, expected, JSON.stringify(fields));
      }
    },

  'can be searched by its question and its description (case-insensitive)': () => {
    const { searchText } = deriveFields({
      groups: [],
      question: 'What MADE you proud?',
      description: 'Ein ÖSTLICHES Wort',
    });
    for (const term of ['what made', 'östliches']) assert.ok(searchText.includes(term), term);
  },
});
