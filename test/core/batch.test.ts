import assert from 'node:assert/strict';
import type { StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import type { Application } from '../../core/application.ts';
import { type BatchResult, isRejected } from '../../core/shared/batch.ts';
import { collectAll } from '../support/collect-all.ts';
import { OTHER, OWN, testCore, UNKNOWN_ID } from '../support/core.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';
import { createCampaignBody } from '../support/tenants.ts';

/** The ids that items of a batch refer to, and the member who creates the batch. */
interface References {
  readonly tag: string;
  readonly group: string;
  readonly foreignTag: string;
  readonly foreignGroup: string;
  readonly pillar: string;
  readonly archivedPillar: string;
  readonly member: Awaited<ReturnType<Application['members']['create']>>;
}

interface Resource<Fields = never> {
  createBatch(references: References): readonly Fields[];
  /** How many items of the batch are rejected. */
  readonly rejectedCount: number;
  create(app: Application, fields: Fields, references: References): Promise<object>;
  checkMany(
    app: Application,
    batch: readonly Fields[],
    references: References,
  ): Promise<readonly BatchResult<object>[]>;
  createMany(
    app: Application,
    batch: readonly Fields[],
    references: References,
  ): Promise<readonly BatchResult<object>[]>;
  readonly store: 'campaigns' | 'inspirationQuestions' | 'tags' | 'groups';
}

const defineResource = <Fields>(it: Resource<Fields>): Resource => it as unknown as Resource;
const createActor = ({ member }: References) => ({ workspaceId: OWN, member });

const resources: Readonly<Record<string, Resource>> = {
  campaigns: defineResource({
    createBatch: ({ tag, group, foreignTag, foreignGroup, pillar, archivedPillar }) =>
      [
        {},
        { tagIds: [tag], groupIds: [group], contentPillarId: pillar, domain: 'live.example' },
        { tagIds: [tag, foreignTag, UNKNOWN_ID] },
        { groupIds: [foreignGroup] },
        { contentPillarId: archivedPillar },
        { contentPillarId: UNKNOWN_ID, tagIds: [UNKNOWN_ID], groupIds: [UNKNOWN_ID], domain: 'archived.example' },
        { domain: 'foreign.example' },
        { domain: 'archived.example' },
        { startDate: '2026-02-02', endDate: '2026-02-01', tagIds: [UNKNOWN_ID] },
        { status: 'archived', targetShares: 5, domain: null, contentPillarId: null } as const,
      ].map((fields, i) => ({ ...createCampaignBody(`Campaign ${i}`), ...fields })),
    rejectedCount: 7,
    create: async (app, fields, references) => {
      const { hasShared: _, ...campaign } = await app.campaigns.create(createActor(references), fields);
      return campaign;
    },
    checkMany: (app, batch, references) => app.campaigns.checkMany(createActor(references), batch),
    createMany: (app, batch, references) => app.campaigns.createMany(createActor(references), batch),
    store: 'campaigns',
  }),
  'inspiration questions': defineResource({
    createBatch: ({ group, foreignGroup }) =>
      [{}, { groups: [group] }, { groups: [group, foreignGroup] }, { groups: [UNKNOWN_ID] }, { archived: true }].map(
        (fields, i) => ({ question: `Which is question ${i}?`, ...fields }),
      ),
    rejectedCount: 2,
    create: (app, fields) => app.inspirationQuestions.create(OWN, fields),
    checkMany: (app, batch) => app.inspirationQuestions.checkMany(OWN, batch),
    createMany: (app, batch) => app.inspirationQuestions.createMany(OWN, batch),
    store: 'inspirationQuestions',
  }),
  tags: defineResource({
    createBatch: () => ['One', 'Own', 'two', 'ONE', 'Three', 'Foreign', 'OWN', 'four', 'five', 'six', 'seven'],
    rejectedCount: 3,
    create: (app, name) => app.tags.create(OWN, name),
    checkMany: (app, batch) => app.tags.checkMany(OWN, batch),
    createMany: (app, batch) => app.tags.createMany(OWN, batch),
    store: 'tags',
  }),
  groups: defineResource({
    createBatch: () => ['One', 'Own', 'two', 'ONE', 'Foreign'].map((name) => ({ name, description: `All of ${name}` })),
    rejectedCount: 2,
    create: async (app, fields) => {
      const { count: _, ...group } = await app.groups.create(OWN, fields);
      return group;
    },
    checkMany: (app, batch) => app.groups.checkMany(OWN, batch),
    createMany: (app, batch) => app.groups.createMany(OWN, batch),
    store: 'groups',
  }),
};

suite('a batch', {
  'has the same results and errors as its items have if each is created on its own': () =>
    each(resources, async ({ createBatch, rejectedCount, create, checkMany, createMany, store }) => {
      const single = await prepareWorkspace();
      const expected = [];
      for (const fields of createBatch(single.references)) {
        expected.push(normalizeResult(await create(single.app, fields, single.references).catch((error) => error)));
      }
      assert.equal(expected.filter((it) => typeof it === 'string').length, rejectedCount);

      const { app, storage, references } = await prepareWorkspace();
      const readAll = () => collectAll<object>(storage[store].iterate(OWN));
      const before = await readAll();
      const checked = await checkMany(app, createBatch(references), references);
      assert.deepEqual(checked.map(normalizeResult), expected);
      assert.deepEqual(await readAll(), before, 'a check stores nothing');

      const results = await createMany(app, createBatch(references), references);
      assert.deepEqual(results.map(normalizeResult), expected);
      const created = results.filter((it) => !isRejected(it));
      assert.deepEqual(await readAll(), [...before, ...created]);
      assert.deepEqual(await createMany(app, [], references), []);
    }),

  'makes the same number of calls to the storage, whatever its size': () =>
    each(resources, async ({ createBatch, createMany, store }) => {
      const countStorageCalls = async (times: number) => {
        const { app, engine, references } = await prepareWorkspace();
        const calls = countCalls(engine);
        await createMany(app, Array.from({ length: times }, () => createBatch(references)).flat(), references);
        assert.ok(calls.count > 0 && (await engine[store].count(OWN, [])) > 0);
        return calls.count;
      };
      assert.equal(await countStorageCalls(20), await countStorageCalls(1));
    }),

  'rejects a name that another request takes after the check and before the batch is stored': () =>
    each({ tags: 'tags', groups: 'groups' } as const, async (store) => {
      const { app, storage, references } = await prepareWorkspace();
      const { addMany } = storage[store];
      storage[store].addMany = async (records: readonly object[]) => {
        await (store === 'tags' ? app.tags.create(OWN, 'ONE') : app.groups.create(OWN, { name: 'ONE' }));
        return addMany(records as never);
      };
      const { createBatch, createMany, rejectedCount } = resources[store] as Resource;
      const results = await createMany(app, createBatch(references), references);
      assert.equal(results.filter(isRejected).length, rejectedCount + 1);
      const [one] = results;
      assert.match(String(one), /has a (tag|group) with this name/);
    }),
});

/** Creates a workspace with records that a batch can refer to. Only the ids differ between calls. */
async function prepareWorkspace() {
  const { app, storage, engine } = testCore();
  const member = await app.members.create(OWN, { name: 'Ada', email: 'ada@example.com' });
  const createPillar = async (title: string) =>
    (await app.contentPillars.create(OWN, { authorId: member.id, title, color: 'red' })).id;
  const references: References = {
    member,
    tag: (await app.tags.create(OWN, 'Own')).id,
    group: (await app.groups.create(OWN, { name: 'Own' })).id,
    foreignTag: (await app.tags.create(OTHER, 'Foreign')).id,
    foreignGroup: (await app.groups.create(OTHER, { name: 'Foreign' })).id,
    pillar: await createPillar('Live'),
    archivedPillar: await createPillar('Archived'),
  };
  await app.contentPillars.update(OWN, references.archivedPillar, { status: 'archived' });
  await app.domains.createOrArchive(OWN, { slug: 'live.example' });
  await app.domains.createOrArchive(OWN, { slug: 'archived.example', archived: true });
  await app.domains.createOrArchive(OTHER, { slug: 'foreign.example' });
  return { app, storage, engine, references };
}

const ID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Returns a result without its ids: the record, or the kind and the message of the error. */
function normalizeResult(result: BatchResult<object>): unknown {
  if (isRejected(result)) return `${result.kind}: ${result.message}`;
  return JSON.parse(JSON.stringify(result).replaceAll(ID, 'an id'));
}

/** Counts the calls of all methods of the stores from now on. */
function countCalls(engine: StorageEngine): { count: number } {
  const calls = { count: 0 };
  for (const records of Object.values(engine).filter((it) => typeof it === 'object')) {
    for (const [name, method] of Object.entries(records)) {
      Reflect.set(records, name, (...args: unknown[]) => {
        calls.count++;
        return (method as (...args: unknown[]) => unknown)(...args);
      });
    }
  }
  return calls;
}
