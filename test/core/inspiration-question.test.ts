import assert from 'node:assert/strict';
import { predicate } from '../../adapters/memory/condition.ts';
import type { Member } from '../../core/access/member.ts';
import {
  availabilityConditions,
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

/** A question that differs from one that is active, live and for all, and whom it is available to. */
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

function question({ userType = 'all', groups = [], isActive = true, archived = false }: Fields): InspirationQuestion {
  const texts = { groups, question: 'What did you learn today?', description: '' };
  return { ...texts, ...deriveFields(texts), userType, isActive, archived } as unknown as InspirationQuestion;
}

suite('an inspiration question', {
  'is available while it is active and live, to its seat type and its groups; to no member what is open to all': () => {
    for (const [fields, expected] of questions) {
      const reached = everyone.filter((name) => {
        const member = callers[name] as Member | undefined;
        return predicate(availabilityConditions({ workspaceId: 'own', member }))(question(fields));
      });
      assert.deepEqual(reached, expected, JSON.stringify(fields));
    }
  },

  'is found by its question and its description, whatever the case': () => {
    const { searchText } = deriveFields({
      groups: [],
      question: 'What MADE you proud?',
      description: 'Ein ÖSTLICHES Wort',
    });
    for (const term of ['what made', 'östliches']) assert.ok(searchText.includes(term), term);
  },
});
