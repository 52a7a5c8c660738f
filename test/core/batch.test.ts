import assert from 'node:assert/strict';
import { recordSchemas, type StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import type { Application } from '../../core/application.ts';
import { type BatchResult, isRejected } from '../../core/shared/batch.ts';
import { OTHER, OWN, testCore } from '../support/core.ts';
import { each } from '../support/each.ts';
import { UNKNOWN_ID } from '../support/expected-responses.ts';
import { parseDates } from '../support/parse-dates.ts';
import { suite } from '../support/suite.ts';
import { createCampaignFields } from '../support/tenants.ts';

/** The IDs that items of a batch refer to, and the member who creates the batch. */
interface References {
  readonly tag: string;
  readonly group: string;
  readonly foreignTag: string;
  readonly foreignGroup: string;
  readonly pillar: string;
  readonly archivedPillar: string;
  readonly member: Awaited<ReturnType<Application['members']['create']>>;
}

interface Resource {
  createBatch(references: References): readonly unknown[];
  /** The number of items of the batch that are rejected. */
  readonly rejectedCount: number;
}

/** The batches by the names of the services, which are also the names of the stores. */
const resources = {
  campaigns: {
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
        parseDates({ startDate: '2026-02-02', endDate: '2026-02-01', tagIds: [UNKNOWN_ID] }),
        { status: 'archived', targetShares: 5, domain: null, contentPillarId: null },
      ].map((fields, i) => ({ ...createCampaignFields(`Campaign ${i}`), ...fields })),
    rejectedCount: 7,
  },
  inspirationQuestions: {
    createBatch: ({ group, foreignGroup }) =>
      [{}, { groups: [group] }, { groups: [group, foreignGroup] }, { groups: [UNKNOWN_ID] }, { archived: true }].map(
        (fields, i) => ({ question: `Which is question ${i}?`, ...fields }),
      ),
    rejectedCount: 2,
  },
  tags: {
    createBatch: () => ['One', 'Own', 'two', 'ONE', 'Three', 'Foreign', 'OWN', 'four', 'five', 'six', 'seven'],
    rejectedCount: 3,
  },
  groups: {
    createBatch: () => ['One', 'Own', 'two', 'ONE', 'Foreign'].map((name) => ({ name, description: `All of ${name}` })),
    rejectedCount: 2,
  },
} as const satisfies Record<string, Resource>;

type Name = keyof typeof resources;
const names = Object.keys(resources).map((name) => [name, name as Name] as const);

/** The untyped methods of a service that can create its records in batches. */
interface Service {
  create(scope: unknown, fields: unknown): Promise<object>;
  buildMany(scope: unknown, batch: readonly unknown[]): Promise<readonly BatchResult<object>[]>;
  createMany(scope: unknown, batch: readonly unknown[]): Promise<readonly BatchResult<object>[]>;
}

/** Returns the service with this name, and the first argument of its methods: the member who creates campaigns, or a workspace. */
function getService(app: Application, name: Name, { member }: References) {
  return { service: app[name] as unknown as Service, scope: name === 'campaigns' ? { workspaceId: OWN, member } : OWN };
}

suite('a batch', {
  'has the same results and errors as its items have when they are created one by one': () =>
    each(names, async (name) => {
      const { createBatch, rejectedCount }: Resource = resources[name];
      const single = await prepareWorkspace();
      const { service, scope } = getService(single.app, name, single.references);
      const expected = [];
      for (const fields of createBatch(single.references)) {
        expected.push(normalizeResult(await service.create(scope, fields).catch((error) => error)));
      }
      assert.equal(expected.filter((it) => typeof it === 'string').length, rejectedCount);

      const { app, engine, references } = await prepareWorkspace();
      const batched = getService(app, name, references);
      const readAll = async () =>
        (await engine[name].listById(OWN, '', 99)).map((record) => recordSchemas[name].toEntity(record as never));
      const before = await readAll();
      const checked = await batched.service.buildMany(batched.scope, createBatch(references));
      assert.deepEqual(checked.map(normalizeResult), expected);
      assert.deepEqual(await readAll(), before, 'a check stores nothing');

      const results = await batched.service.createMany(batched.scope, createBatch(references));
      assert.deepEqual(results.map(normalizeResult), expected);
      const created = results.filter((it) => !isRejected(it));
      assert.deepEqual(await readAll(), [...before, ...created]);
      assert.deepEqual(await batched.service.createMany(batched.scope, []), []);
    }),

  'makes the same number of calls to the storage, whatever its size': () =>
    each(names, async (name) => {
      const countStorageCalls = async (times: number) => {
        const { app, engine, references } = await prepareWorkspace();
        const { service, scope } = getService(app, name, references);
        const calls = countCalls(engine);
        const { createBatch }: Resource = resources[name];
        await service.createMany(scope, Array.from({ length: times }, () => createBatch(references)).flat());
        assert.ok(calls.count > 0 && (await engine[name].count(OWN, [])) > 0);
        return calls.count;
      };
      assert.equal(await countStorageCalls(20), await countStorageCalls(1));
    }),

  'rejects a name that another request takes between the check and the write of the batch': () =>
    each({ tags: 'tags', groups: 'groups' } as const, async (name) => {
      const { app, storage, references } = await prepareWorkspace();
      const { addMany } = storage[name];
      storage[name].addMany = async (records: readonly object[]) => {
        await (name === 'tags' ? app.tags.create(OWN, 'ONE') : app.groups.create(OWN, { name: 'ONE' }));
        return addMany(records as never);
      };
      const { service, scope } = getService(app, name, references);
      const { createBatch, rejectedCount } = resources[name];
      const results = await service.createMany(scope, createBatch());
      assert.equal(results.filter(isRejected).length, rejectedCount + 1);
      assert.match(String(results[0]), /has a (tag|group) with this name/);
    }),
});

/** Creates a workspace with records that a batch can refer to. Only the IDs differ between calls. */
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

/** Returns a result without IDs and computed fields: the record, or the kind and the message of the error. */
function normalizeResult(result: BatchResult<object>): unknown {
  if (isRejected(result)) return `${result.kind}: ${result.message}`;
  const { hasShared: _, count: __, ...record } = JSON.parse(JSON.stringify(result).replaceAll(ID, 'an id'));
  return record;
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
