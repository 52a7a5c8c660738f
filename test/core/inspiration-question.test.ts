import assert from 'node:assert/strict';
import type { Member } from '../../core/access/member.ts';
import {
  type InspirationQuestion,
  newInspirationQuestion,
} from '../../core/inspiration-question/inspiration-question.ts';
import { NOON, OWN, testCore, UNKNOWN_ID } from '../support/core.ts';
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

const LIST = { page: 1, pageSize: 100, includeArchived: false, availableToMe: true };

suite('an inspiration question', {
  'is available while active and not archived, to members by seat type and group, to other callers only if open to all':
    async () => {
      for (const [fields, expected] of questions) {
        const { storage, app } = testCore();
        const question = newInspirationQuestion(OWN, UNKNOWN_ID, { question: 'What did you learn?', ...fields }, NOON);
        await storage.inspirationQuestions.add(question);
        const available: string[] = [];
        for (const name of everyone) {
          const member = callers[name] as Member | undefined;
          const { items } = await app.inspirationQuestions.list({ workspaceId: OWN, member }, LIST);
          if (items.length > 0) available.push(name);
        }
        assert.deepEqual(available, expected, JSON.stringify(fields));
      }
    },
});
