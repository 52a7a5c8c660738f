import assert from 'node:assert/strict';
import type { Actor } from '../../core/access/caller.ts';
import type {
  InspirationQuestionChange,
  InspirationQuestionQuery,
} from '../../core/inspiration-question/inspiration-question-service.ts';
import { timestamp } from '../../core/shared/date.ts';
import { NOON, OTHER, OWN, SECOND, type TestCore, testCore, UNKNOWN_ID } from '../support/core.ts';
import { suite } from '../support/suite.ts';

const NOBODY: Actor = { workspaceId: OWN };
const QUERY: InspirationQuestionQuery = { includeArchived: false, availableToMe: false, page: 1, pageSize: 50 };

async function makeAll({ app, clock }: TestCore, questions: Readonly<Record<string, InspirationQuestionChange>>) {
  for (const [question, fields] of Object.entries(questions)) {
    clock.now += SECOND;
    await app.inspirationQuestions.create(OWN, { question, ...fields });
  }
}

async function found({ app }: TestCore, query: Partial<InspirationQuestionQuery>, actor = NOBODY): Promise<string[]> {
  const { items } = await app.inspirationQuestions.list(actor, { ...QUERY, ...query });
  return items.map(({ question }) => question);
}

suite('a new inspiration question', {
  'has the defaults where nothing else is said': async () => {
    const { app, storage } = testCore();
    const { id, ...made } = await app.inspirationQuestions.create(OWN, { question: 'What DID you learn?' });
    assert.deepEqual(made, {
      workspaceId: OWN,
      question: 'What DID you learn?',
      description: '',
      icon: 'bulb',
      userType: 'all',
      groups: [],
      isActive: true,
      archived: false,
      audience: ['everyone'],
      searchText: 'what did you learn?\0',
      createdAt: timestamp(NOON),
      updatedAt: timestamp(NOON),
    });
    assert.deepEqual(await storage.inspirationQuestions.get(OWN, id), { id, ...made });
  },

  'has both flags as they were sent': async () => {
    const { app } = testCore();
    for (const isActive of [true, false]) {
      for (const archived of [true, false]) {
        const made = await app.inspirationQuestions.create(OWN, { question: 'What?', isActive, archived });
        assert.deepEqual([made.isActive, made.archived], [isActive, archived]);
      }
    }
  },

  'is for groups of its workspace alone': async () => {
    const { app, storage } = testCore();
    const own = (await app.groups.create(OWN, { name: 'A' })).id;
    const foreign = (await app.groups.create(OTHER, { name: 'A' })).id;
    await assert.rejects(
      app.inspirationQuestions.create(OWN, { question: 'What?', groups: [foreign, own, UNKNOWN_ID] }),
      { kind: 'invalid', message: 'groups.0: is no group of the workspace; groups.2: is no group of the workspace' },
    );
    assert.equal(await storage.inspirationQuestions.count(OWN, []), 0);
  },
});

suite('a change of an inspiration question', {
  'is looked at by search and availability from then on': async () => {
    const core = testCore();
    const { id: group } = await core.app.groups.create(OWN, { name: 'A' });
    const { id } = await core.app.inspirationQuestions.create(OWN, { question: 'What?' });
    await core.app.inspirationQuestions.update(OWN, id, { question: 'Who?', groups: [group] });
    assert.deepEqual(await found(core, { search: 'WHAT' }), []);
    assert.deepEqual(await found(core, { search: 'WHO' }), ['Who?']);
    assert.deepEqual(await found(core, { availableToMe: true }), []);
    await core.app.inspirationQuestions.update(OWN, id, { groups: [] });
    assert.deepEqual(await found(core, { availableToMe: true }), ['Who?']);
  },

  'leaves what is left out, and updatedAt where nothing differs': async () => {
    const { app, clock } = testCore();
    const { id: group } = await app.groups.create(OWN, { name: 'A' });
    const made = await app.inspirationQuestions.create(OWN, { question: 'What?', groups: [group], icon: 'sun' });
    clock.now += SECOND;
    for (const same of [{}, { question: 'What?' }, { groups: [group], isActive: true, icon: 'sun' as const }]) {
      assert.deepEqual(await app.inspirationQuestions.update(OWN, made.id, same), made);
    }
    const changed = await app.inspirationQuestions.update(OWN, made.id, { archived: true });
    assert.deepEqual(changed, { ...made, archived: true, updatedAt: timestamp(NOON + SECOND) });
  },

  'is refused as not found before its groups are looked at': async () => {
    const { app, storage } = testCore();
    const made = await app.inspirationQuestions.create(OWN, { question: 'What?' });
    const { id } = made;
    const change = { groups: [UNKNOWN_ID] };
    await assert.rejects(app.inspirationQuestions.update(OWN, id, change), { kind: 'invalid' });
    await assert.rejects(app.inspirationQuestions.update(OTHER, id, change), { kind: 'not_found' });
    await assert.rejects(app.inspirationQuestions.update(OWN, UNKNOWN_ID, change), { kind: 'not_found' });
    await assert.rejects(app.inspirationQuestions.update(OTHER, id, { isActive: false }), { kind: 'not_found' });
    assert.deepEqual(await storage.inspirationQuestions.get(OWN, id), made);
  },
});

suite('the removal of an inspiration question', {
  'is for good, and of one of the workspace': async () => {
    const { app, storage } = testCore();
    const { id } = await app.inspirationQuestions.create(OWN, { question: 'What?' });
    await assert.rejects(app.inspirationQuestions.remove(OTHER, id), { kind: 'not_found' });
    await app.inspirationQuestions.remove(OWN, id);
    await assert.rejects(app.inspirationQuestions.remove(OWN, id), { kind: 'not_found' });
    assert.equal(await storage.inspirationQuestions.count(OWN, []), 0);
  },
});

suite('the list of inspiration questions', {
  'is newest first, and narrowed by any of a filter and all filters together': async () => {
    const core = testCore();
    const [a, b] = [
      (await core.app.groups.create(OWN, { name: 'A' })).id,
      (await core.app.groups.create(OWN, { name: 'B' })).id,
    ];
    const member = await core.app.members.create(OWN, { name: 'Ada', email: 'ada@example.com', groupIds: [b] });
    await makeAll(core, {
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
      assert.deepEqual(await found(core, query, { workspaceId: OWN, member }), expected, JSON.stringify(query));
    }
    assert.deepEqual(await found(core, { availableToMe: true }), ['open']);
    assert.deepEqual(await found(core, { includeArchived: true }, { workspaceId: OTHER }), []);
  },
});
