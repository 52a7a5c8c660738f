import assert from 'node:assert/strict';
import type { Actor } from '../../core/access/caller.ts';
import type { InspirationQuestionChange } from '../../core/inspiration-question/inspiration-question.ts';
import type { InspirationQuestionQuery } from '../../core/inspiration-question/inspiration-question-service.ts';
import { OTHER, OWN, SECOND, type TestCore, testCore } from '../support/core.ts';
import { UNKNOWN_ID } from '../support/expected-responses.ts';
import { suite } from '../support/suite.ts';

const NO_MEMBER: Actor = { workspaceId: OWN };
const QUERY: InspirationQuestionQuery = { includeArchived: false, availableToMe: false, page: 1, pageSize: 50 };

async function createQuestions(
  { app, clock }: TestCore,
  questions: Readonly<Record<string, InspirationQuestionChange>>,
) {
  for (const [question, fields] of Object.entries(questions)) {
    clock.now += SECOND;
    await app.inspirationQuestions.create(OWN, { question, ...fields });
  }
}

async function listQuestions(
  { app }: TestCore,
  query: Partial<InspirationQuestionQuery>,
  actor = NO_MEMBER,
): Promise<string[]> {
  const { items } = await app.inspirationQuestions.list(actor, { ...QUERY, ...query });
  return items.map(({ question }) => question);
}

suite('a new inspiration question', {
  'is rejected with groups that its workspace does not have': async () => {
    const { app, engine } = testCore();
    const own = (await app.groups.create(OWN, { name: 'A' })).id;
    const foreign = (await app.groups.create(OTHER, { name: 'A' })).id;
    await assert.rejects(
      app.inspirationQuestions.create(OWN, { question: 'What?', groups: [foreign, own, UNKNOWN_ID] }),
      {
        kind: 'invalid',
        message:
          'groups.0: must be the ID of a group of this workspace; groups.2: must be the ID of a group of this workspace',
      },
    );
    assert.equal(await engine.inspirationQuestions.count(OWN, []), 0);
  },
});

suite('a change of an inspiration question', {
  'applies to search and availability immediately': async () => {
    const core = testCore();
    const { id: group } = await core.app.groups.create(OWN, { name: 'A' });
    const { id } = await core.app.inspirationQuestions.create(OWN, { question: 'What?' });
    await core.app.inspirationQuestions.update(OWN, id, { question: 'Who?', groups: [group] });
    assert.deepEqual(await listQuestions(core, { search: 'WHAT' }), []);
    assert.deepEqual(await listQuestions(core, { search: 'WHO' }), ['Who?']);
    assert.deepEqual(await listQuestions(core, { availableToMe: true }), []);
    await core.app.inspirationQuestions.update(OWN, id, { groups: [] });
    assert.deepEqual(await listQuestions(core, { availableToMe: true }), ['Who?']);
    await core.app.inspirationQuestions.update(OWN, id, { userType: 'advocate' });
    assert.deepEqual(await listQuestions(core, { availableToMe: true }), []);
  },
});

suite('the list of inspiration questions', {
  'is newest first, and contains the questions that match at least one value of each filter': async () => {
    const core = testCore();
    const [a, b] = [
      (await core.app.groups.create(OWN, { name: 'A' })).id,
      (await core.app.groups.create(OWN, { name: 'B' })).id,
    ];
    const member = await core.app.members.create(OWN, { name: 'Ada', email: 'ada@example.com', groupIds: [b] });
    await createQuestions(core, {
      open: { description: 'ÄXTE' },
      inactive: { isActive: false },
      archived: { archived: true },
      'of A': { groups: [a] },
      'of both': { groups: [a, b], userType: 'advocate' },
      'for leaders': { userType: 'thought_leader' },
    });
    const live = ['for leaders', 'of both', 'of A', 'inactive', 'open'];
    const cases: readonly (readonly [Partial<InspirationQuestionQuery>, readonly string[]])[] = [
      [{}, live],
      [{ includeArchived: true }, ['for leaders', 'of both', 'of A', 'archived', 'inactive', 'open']],
      [{ isActive: false }, ['inactive']],
      [{ isActive: true }, ['for leaders', 'of both', 'of A', 'open']],
      [{ userType: 'all' }, ['of A', 'inactive', 'open']],
      [{ userType: 'advocate' }, ['of both']],
      [{ groupIds: [b] }, ['of both']],
      [{ groupIds: [a, UNKNOWN_ID] }, ['of both', 'of A']],
      [{ groupIds: [a], userType: 'all' }, ['of A']],
      [{ groupIds: [UNKNOWN_ID] }, []],
      [{ groupIds: ['everyone'] }, []],
      [{ search: 'äxte' }, ['open']],
      [{ search: 'OF ' }, ['of both', 'of A']],
      [{ search: 'of .' }, []],
      [{ search: '' }, live],
      [{ availableToMe: true }, ['of both', 'open']],
      [{ availableToMe: true, includeArchived: true }, ['of both', 'open']],
      [{ availableToMe: true, userType: 'all' }, ['open']],
      [{ availableToMe: true, isActive: false }, []],
    ];
    for (const [query, expected] of cases) {
      assert.deepEqual(await listQuestions(core, query, { workspaceId: OWN, member }), expected, JSON.stringify(query));
    }
    const leader = { ...member, seatType: 'thought_leader', groupIds: [] } as const;
    assert.deepEqual(await listQuestions(core, { availableToMe: true }, { workspaceId: OWN, member: leader }), [
      'for leaders',
      'open',
    ]);
    assert.deepEqual(await listQuestions(core, { availableToMe: true }), ['open']);
    assert.deepEqual(await listQuestions(core, { includeArchived: true }, { workspaceId: OTHER }), []);
  },
});
