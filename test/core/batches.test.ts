import assert from 'node:assert/strict';
import type { Application } from '../../core/application.ts';
import { isRefused, type Outcome } from '../../core/shared/batch.ts';
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
  create(use: Application, fields: Fields, names: Names): Promise<object>;
  checkMany(use: Application, batch: readonly Fields[], names: Names): Promise<readonly Outcome<object>[]>;
  createMany(use: Application, batch: readonly Fields[], names: Names): Promise<readonly Outcome<object>[]>;
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
    create: async (use, fields, names) => {
      const { hasShared: _, ...campaign } = await use.campaigns.create(actor(names), fields);
      return campaign;
    },
    checkMany: (use, batch, names) => use.campaigns.checkMany(actor(names), batch),
    createMany: (use, batch, names) => use.campaigns.createMany(actor(names), batch),
    kept: 'campaigns',
  }),
  'inspiration questions': kind({
    batch: ({ group, foreignGroup }) =>
      [{}, { groups: [group] }, { groups: [group, foreignGroup] }, { groups: [UNKNOWN_ID] }, { archived: true }].map(
        (fields, i) => ({ question: `Which is question ${i}?`, ...fields }),
      ),
    refused: 2,
    create: (use, fields) => use.inspirationQuestions.create(OWN, fields),
    checkMany: (use, batch) => use.inspirationQuestions.checkMany(OWN, batch),
    createMany: (use, batch) => use.inspirationQuestions.createMany(OWN, batch),
    kept: 'inspirationQuestions',
  }),
  tags: kind({
    batch: () => ['One', 'Own', 'two', 'ONE', 'Three', 'Foreign', 'OWN', 'four', 'five', 'six', 'seven'],
    refused: 3,
    create: (use, name) => use.tags.create(OWN, name),
    checkMany: (use, batch) => use.tags.checkMany(OWN, batch),
    createMany: (use, batch) => use.tags.createMany(OWN, batch),
    kept: 'tags',
  }),
  groups: kind({
    batch: () => ['One', 'Own', 'two', 'ONE', 'Foreign'].map((name) => ({ name, description: `All of ${name}` })),
    refused: 2,
    create: async (use, fields) => {
      const { count: _, ...group } = await use.groups.create(OWN, fields);
      return group;
    },
    checkMany: (use, batch) => use.groups.checkMany(OWN, batch),
    createMany: (use, batch) => use.groups.createMany(OWN, batch),
    kept: 'groups',
  }),
};

suite('a batch', {
  'becomes what its parts would become one by one, and refuses the same': () =>
    each(kinds, async ({ batch, refused, create, checkMany, createMany, kept }) => {
      const single = await prepared();
      const expected = [];
      for (const fields of batch(single.names)) {
        expected.push(essence(await create(single.use, fields, single.names).catch((error) => error)));
      }
      assert.equal(expected.filter((it) => typeof it === 'string').length, refused);

      const { use, storage, names } = await prepared();
      const before = await storage[kept].listById(OWN, '', 99);
      assert.deepEqual((await checkMany(use, batch(names), names)).map(essence), expected);
      assert.deepEqual(await storage[kept].listById(OWN, '', 99), before, 'a check keeps nothing');

      const made = await createMany(use, batch(names), names);
      assert.deepEqual(made.map(essence), expected);
      assert.deepEqual(await storage[kept].listById(OWN, '', 99), [...before, ...made.filter((it) => !isRefused(it))]);
      assert.deepEqual(await createMany(use, [], names), []);
    }),

  'asks the storage as often as a small one': () =>
    each(kinds, async ({ batch, createMany, kept }) => {
      const asks = async (times: number) => {
        const { use, storage, names } = await prepared();
        const asked = counted(storage);
        await createMany(use, Array.from({ length: times }, () => batch(names)).flat(), names);
        assert.ok(asked.count > 0 && (await storage[kept].count(OWN, [])) > 0);
        return asked.count;
      };
      assert.equal(await asks(20), await asks(1));
    }),

  'refuses a name that somebody takes before it is kept': () =>
    each({ tags: 'tags', groups: 'groups' } as const, async (kept) => {
      const { use, storage, names } = await prepared();
      const { addMany } = storage[kept];
      storage[kept].addMany = async (records: readonly object[]) => {
        await (kept === 'tags' ? use.tags.create(OWN, 'ONE') : use.groups.create(OWN, { name: 'ONE' }));
        return addMany(records as never);
      };
      const { batch, createMany, refused } = kinds[kept] as Kind;
      const made = await createMany(use, batch(names), names);
      assert.equal(made.filter(isRefused).length, refused + 1);
      const [one] = made;
      assert.match(String(one), /has a (tag|group) of this name/);
    }),
});

/** A workspace with something to name, the same each time but for its ids. */
async function prepared() {
  const { use, storage } = testCore();
  const member = await use.members.create(OWN, { name: 'Ada', email: 'ada@example.com' });
  const pillar = async (title: string) =>
    (await use.contentPillars.create(OWN, { authorId: member.id, title, color: 'red' })).id;
  const names: Names = {
    member,
    tag: (await use.tags.create(OWN, 'Own')).id,
    group: (await use.groups.create(OWN, { name: 'Own' })).id,
    foreignTag: (await use.tags.create(OTHER, 'Foreign')).id,
    foreignGroup: (await use.groups.create(OTHER, { name: 'Foreign' })).id,
    pillar: await pillar('Live'),
    archivedPillar: await pillar('Archived'),
  };
  await use.contentPillars.update(OWN, names.archivedPillar, { status: 'archived' });
  await use.domains.createOrArchive(OWN, { slug: 'live.example' });
  await use.domains.createOrArchive(OWN, { slug: 'archived.example', archived: true });
  await use.domains.createOrArchive(OTHER, { slug: 'foreign.example' });
  return { use, storage, names };
}

const ID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** What has become of one, whatever its ids: a record, or the kind and the sentence of a refusal. */
function essence(outcome: Outcome<object>): unknown {
  if (isRefused(outcome)) return `${outcome.kind}: ${outcome.message}`;
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
