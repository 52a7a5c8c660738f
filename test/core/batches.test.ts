import assert from 'node:assert/strict';
import type { Application } from '../../core/application.ts';
import { type BatchResult, isRejected } from '../../core/shared/batch.ts';
import type { Storage } from '../../core/storage.ts';
import { OTHER, OWN, testCore, UNKNOWN_ID } from '../support/core.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';
import { campaignBody } from '../support/tenants.ts';

/** What a batch may name. */
interface Names {
  readonly tag: string;
  readonly group: string;
  readonly foreignTag: string;
  readonly foreignGroup: string;
  readonly pillar: string;
  readonly archivedPillar: string;
  readonly member: Awaited<ReturnType<Application['members']['create']>>;
}

interface Kind<Fields = never> {
  batch(names: Names): readonly Fields[];
  /** How many of the batch are refused. */
  readonly refused: number;
  create(app: Application, fields: Fields, names: Names): Promise<object>;
  checkMany(app: Application, batch: readonly Fields[], names: Names): Promise<readonly BatchResult<object>[]>;
  createMany(app: Application, batch: readonly Fields[], names: Names): Promise<readonly BatchResult<object>[]>;
  readonly kept: 'campaigns' | 'inspirationQuestions' | 'tags' | 'groups';
}

const kind = <Fields>(it: Kind<Fields>): Kind => it as unknown as Kind;
const actor = ({ member }: Names) => ({ workspaceId: OWN, member });

const kinds: Readonly<Record<string, Kind>> = {
  campaigns: kind({
    batch: ({ tag, group, foreignTag, foreignGroup, pillar, archivedPillar }) =>
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
      ].map((fields, i) => ({ ...campaignBody(`Campaign ${i}`), ...fields })),
    refused: 7,
    create: async (app, fields, names) => {
      const { hasShared: _, ...campaign } = await app.campaigns.create(actor(names), fields);
      return campaign;
    },
    checkMany: (app, batch, names) => app.campaigns.checkMany(actor(names), batch),
    createMany: (app, batch, names) => app.campaigns.createMany(actor(names), batch),
    kept: 'campaigns',
  }),
  'inspiration questions': kind({
    batch: ({ group, foreignGroup }) =>
      [{}, { groups: [group] }, { groups: [group, foreignGroup] }, { groups: [UNKNOWN_ID] }, { archived: true }].map(
        (fields, i) => ({ question: `Which is question ${i}?`, ...fields }),
      ),
    refused: 2,
    create: (app, fields) => app.inspirationQuestions.create(OWN, fields),
    checkMany: (app, batch) => app.inspirationQuestions.checkMany(OWN, batch),
    createMany: (app, batch) => app.inspirationQuestions.createMany(OWN, batch),
    kept: 'inspirationQuestions',
  }),
  tags: kind({
    batch: () => ['One', 'Own', 'two', 'ONE', 'Three', 'Foreign', 'OWN', 'four', 'five', 'six', 'seven'],
    refused: 3,
    create: (app, name) => app.tags.create(OWN, name),
    checkMany: (app, batch) => app.tags.checkMany(OWN, batch),
    createMany: (app, batch) => app.tags.createMany(OWN, batch),
    kept: 'tags',
  }),
  groups: kind({
    batch: () => ['One', 'Own', 'two', 'ONE', 'Foreign'].map((name) => ({ name, description: `All of ${name}` })),
    refused: 2,
    create: async (app, fields) => {
      const { count: _, ...group } = await app.groups.create(OWN, fields);
      return group;
    },
    checkMany: (app, batch) => app.groups.checkMany(OWN, batch),
    createMany: (app, batch) => app.groups.createMany(OWN, batch),
    kept: 'groups',
  }),
};

suite('a batch', {
  'becomes what its parts would become one by one, and refuses the same': () =>
    each(kinds, async ({ batch, refused, create, checkMany, createMany, kept }) => {
      const single = await prepared();
      const expected = [];
      for (const fields of batch(single.names)) {
        expected.push(essence(await create(single.app, fields, single.names).catch((error) => error)));
      }
      assert.equal(expected.filter((it) => typeof it === 'string').length, refused);

      const { app, storage, names } = await prepared();
      const before = await storage[kept].listById(OWN, '', 99);
      assert.deepEqual((await checkMany(app, batch(names), names)).map(essence), expected);
      assert.deepEqual(await storage[kept].listById(OWN, '', 99), before, 'a check keeps nothing');

      const made = await createMany(app, batch(names), names);
      assert.deepEqual(made.map(essence), expected);
      assert.deepEqual(await storage[kept].listById(OWN, '', 99), [...before, ...made.filter((it) => !isRejected(it))]);
      assert.deepEqual(await createMany(app, [], names), []);
    }),

  'asks the storage as often as a small one': () =>
    each(kinds, async ({ batch, createMany, kept }) => {
      const asks = async (times: number) => {
        const { app, storage, names } = await prepared();
        const asked = counted(storage);
        await createMany(app, Array.from({ length: times }, () => batch(names)).flat(), names);
        assert.ok(asked.count > 0 && (await storage[kept].count(OWN, [])) > 0);
        return asked.count;
      };
      assert.equal(await asks(20), await asks(1));
    }),

  'refuses a name that somebody takes before it is kept': () =>
    each({ tags: 'tags', groups: 'groups' } as const, async (kept) => {
      const { app, storage, names } = await prepared();
      const { addMany } = storage[kept];
      storage[kept].addMany = async (records: readonly object[]) => {
        await (kept === 'tags' ? app.tags.create(OWN, 'ONE') : app.groups.create(OWN, { name: 'ONE' }));
        return addMany(records as never);
      };
      const { batch, createMany, refused } = kinds[kept] as Kind;
      const made = await createMany(app, batch(names), names);
      assert.equal(made.filter(isRejected).length, refused + 1);
      const [one] = made;
      assert.match(String(one), /has a (tag|group) of this name/);
    }),
});

/** A workspace with something to name, the same each time but for its ids. */
async function prepared() {
  const { app, storage } = testCore();
  const member = await app.members.create(OWN, { name: 'Ada', email: 'ada@example.com' });
  const pillar = async (title: string) =>
    (await app.contentPillars.create(OWN, { authorId: member.id, title, color: 'red' })).id;
  const names: Names = {
    member,
    tag: (await app.tags.create(OWN, 'Own')).id,
    group: (await app.groups.create(OWN, { name: 'Own' })).id,
    foreignTag: (await app.tags.create(OTHER, 'Foreign')).id,
    foreignGroup: (await app.groups.create(OTHER, { name: 'Foreign' })).id,
    pillar: await pillar('Live'),
    archivedPillar: await pillar('Archived'),
  };
  await app.contentPillars.update(OWN, names.archivedPillar, { status: 'archived' });
  await app.domains.createOrArchive(OWN, { slug: 'live.example' });
  await app.domains.createOrArchive(OWN, { slug: 'archived.example', archived: true });
  await app.domains.createOrArchive(OTHER, { slug: 'foreign.example' });
  return { app, storage, names };
}

const ID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** What has become of one, whatever its ids: a record, or the kind and the sentence of a refusal. */
function essence(outcome: BatchResult<object>): unknown {
  if (isRejected(outcome)) return `${outcome.kind}: ${outcome.message}`;
  return JSON.parse(JSON.stringify(outcome).replaceAll(ID, 'an id'));
}

/** Counts from now on how often a storage is asked. */
function counted(storage: Storage): { count: number } {
  const asked = { count: 0 };
  for (const records of Object.values(storage).filter((it) => typeof it === 'object')) {
    for (const [name, method] of Object.entries(records)) {
      Reflect.set(records, name, (...given: unknown[]) => {
        asked.count++;
        return (method as (...given: unknown[]) => unknown)(...given);
      });
    }
  }
  return asked;
}
