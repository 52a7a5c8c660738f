import assert from 'node:assert/strict';
import fc from 'fast-check';
import { CoreError } from '../../core/shared/core-error.ts';
import type { Condition, Query, RecordStore } from '../../core/shared/record-store.ts';
import { type AnyRecord, NaiveRecords } from './naive-storage.ts';
import { type OpenStorage, onStorage, type Tests } from './on-storage.ts';
import { campaign, newId, question, tag } from './samples.ts';

const RECORDS = 40;
const WORKSPACES = 2;

const time = fc.constantFrom('2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z', '2026-03-03T00:00:00.000Z');
const moment = fc.integer({ min: 0, max: 9 });
const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '\uffee', '🏆'), maxLength: 4 });
const letter = fc.constantFrom('a', 'b', 'c', 'd');
const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
const letters: fc.Arbitrary<string[]> = fc.array(letter, { maxLength: 4 });

const is = (field: string, value: fc.Arbitrary<string | boolean>) => value.map((it) => ({ field, is: it }));
const flags = fc.array(fc.boolean(), { maxLength: 3 });
const among = (field: string, values: fc.Arbitrary<(string | boolean)[]> = letters) =>
  values.map((it) => ({ field, in: it }));
const contains = (field: string) => text.map((term) => ({ field, contains: term }));
const range = (field: string) =>
  fc.oneof(
    moment.map((from) => ({ field, from })),
    moment.map((to) => ({ field, to })),
    fc.tuple(moment, moment).map(([from, to]) => ({ field, from, to })),
  );

/** The kinds under test: what their fields can be, what can be asked of them, and which fields order them. */
const models = {
  campaigns: {
    make: campaign,
    fields: {
      archived: fc.boolean(),
      createdAt: time,
      updatedAt: time,
      startsAt: moment,
      endsAt: moment,
      tagIds: letters,
      domain: fc.option(letter),
      createdBy: fc.option(letter),
      name: text,
      searchText: text,
    },
    conditions: [
      is('archived', fc.boolean()),
      among('archived', flags),
      is('createdBy', letter),
      is('name', text),
      among('tagIds'),
      among('domain'),
      among('name', fc.array(text)),
      range('startsAt'),
      range('endsAt'),
      contains('searchText'),
    ],
    orders: ['createdAt', 'updatedAt', 'startsAt'],
  },
  inspirationQuestions: {
    make: question,
    fields: {
      archived: fc.boolean(),
      isActive: fc.boolean(),
      userType: letter,
      groups: letters,
      audience: letters,
      searchText: text,
      createdAt: time,
    },
    conditions: [
      is('archived', fc.boolean()),
      is('isActive', fc.boolean()),
      among('isActive', flags),
      is('userType', letter),
      among('userType'),
      among('groups'),
      among('audience'),
      contains('searchText'),
    ],
    orders: ['createdAt'],
  },
  tags: {
    make: (workspaceId: string, fields: object) => tag(workspaceId, '', fields),
    fields: { foldedName: name, color: letter, createdAt: time },
    conditions: [is('foldedName', name), among('foldedName', fc.array(name)), is('color', letter), among('color')],
    orders: ['createdAt'],
  },
};

type KindName = keyof typeof models;

/** The kinds of a storage, or of what it is compared with. */
type Kinds = Readonly<Record<KindName, RecordStore<AnyRecord>>>;

const verbs = {
  get: ({ records, workspaceId, id }) => records.get(workspaceId, id),
  getMany: async ({ records, workspaceId, id, otherId }) => {
    const found = await records.getMany(workspaceId, [id, otherId, id]);
    return found.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  },
  list: ({ records, workspaceId, query }) => records.list(workspaceId, query),
  listById: ({ records, workspaceId, id, query }) => records.listById(workspaceId, id, query.take),
  count: ({ records, workspaceId, query }) => records.count(workspaceId, query.where),
  add: ({ records, record }) => records.add(record),
  replace: ({ records, workspaceId, id, record }) => records.update(workspaceId, id, () => record),
  keep: ({ records, workspaceId, id }) => records.update(workspaceId, id, (current) => current),
  fail: ({ records, workspaceId, id }) =>
    records.update(workspaceId, id, () => {
      throw new Error('the change throws');
    }),
  remove: ({ records, workspaceId, id }) => records.remove(workspaceId, id),
} satisfies Record<string, (it: Operands) => Promise<unknown>>;

interface Operands {
  readonly records: RecordStore<AnyRecord>;
  readonly workspaceId: string;
  readonly id: string;
  readonly otherId: string;
  readonly record: AnyRecord;
  readonly query: Query<AnyRecord>;
}

/** What is done to the records of a kind; workspace and records by their numbers. */
interface Step {
  readonly verb: keyof typeof verbs;
  readonly kind: KindName;
  readonly workspace: number;
  readonly record: number;
  readonly fields: object;
  readonly query: Query<AnyRecord>;
}

/** Steps that are done atomically, or (where `alone`) one after the other. */
interface Work {
  readonly how: 'alone' | 'atomically' | 'atomically, then throws';
  readonly steps: readonly Step[];
}

const stepOf = (kind: KindName, ...some: Step['verb'][]): fc.Arbitrary<Step> => {
  const { fields, conditions, orders } = models[kind];
  const query = fc.record({
    where: fc.array(fc.oneof(...(conditions as fc.Arbitrary<Condition<AnyRecord>>[])), { maxLength: 3 }),
    by: fc.constantFrom(...orders),
    order: fc.constantFrom('asc' as const, 'desc' as const),
    skip: fc.oneof(fc.constant(0), fc.nat(RECORDS)),
    take: fc.oneof(fc.nat(5), fc.constant(RECORDS)),
  });
  return fc.record({
    verb: fc.constantFrom(...some),
    kind: fc.constant(kind),
    workspace: fc.nat(WORKSPACES - 1),
    record: fc.nat(RECORDS - 1),
    fields: fc.record(fields as Record<string, fc.Arbitrary<unknown>>),
    query,
  });
};

const all = Object.keys(verbs) as Step['verb'][];
const kinds = Object.keys(models) as KindName[];
const step = fc.oneof(...kinds.map((kind) => stepOf(kind, ...all, 'add', 'replace', 'list', 'list', 'list')));
const filling = fc.oneof(stepOf('campaigns', 'add'), stepOf('inspirationQuestions', 'add'));
const work = fc.record({
  how: fc.constantFrom<Work['how'][]>('alone', 'atomically', 'atomically, then throws'),
  steps: fc.array(step, { maxLength: 20 }),
});
const works = fc.tuple(fc.array(filling, { maxLength: 150 }), fc.array(work, { maxLength: 8 })).map(([steps, rest]) => {
  const filled: Work = { how: 'alone', steps };
  return [filled, ...rest];
});

/** Whatever is done, a storage answers as arrays do that are searched from end to end. */
export function storageModel(open: OpenStorage, numRuns: number): Tests {
  return {
    'answers as arrays of records would': onStorage(open)((storage) =>
      fc.assert(
        fc.asyncProperty(works, async (all) => {
          const [real, naive] = [storage as unknown as ModelStorage, naiveStorage()];
          const names = {
            workspaces: Array.from({ length: WORKSPACES }, newId),
            ids: Array.from({ length: RECORDS }, newId),
          };
          for (const work of all) {
            assert.deepEqual(await answers(real, work, names), await answers(naive, work, names));
            assert.deepEqual(await everything(real, names), await everything(naive, names));
          }
        }),
        { numRuns },
      ),
    ),
  };
}

/** The ids that a run uses. */
interface Names {
  readonly workspaces: readonly string[];
  readonly ids: readonly string[];
}

type ModelStorage = Kinds & { atomically(work: (staged: Kinds) => Promise<void>): Promise<void> };

function naiveStorage(): ModelStorage {
  const campaigns = new NaiveRecords('id');
  const inspirationQuestions = new NaiveRecords('id');
  const tags = new NaiveRecords('foldedName');
  const kinds = { campaigns, inspirationQuestions, tags };
  const atomically = async (work: (staged: Kinds) => Promise<void>) => {
    const before = Object.values(kinds).map((records) => [records, records.rows] as const);
    await work(kinds).catch((error) => {
      for (const [records, rows] of before) records.rows = rows;
      throw error;
    });
  };
  return { ...kinds, atomically };
}

async function answers(storage: ModelStorage, { how, steps }: Work, names: Names): Promise<unknown[]> {
  const given: unknown[] = [];
  const run = async (kinds: Kinds) => {
    for (const step of steps) given.push(await verbs[step.verb](operandsOf(kinds, step, names)).catch(refusal));
    if (how === 'atomically, then throws') throw new Error('the work throws');
  };
  await (how === 'alone' ? run(storage) : storage.atomically(run)).catch((error) => given.push(refusal(error)));
  return given;
}

function operandsOf(kinds: Kinds, { kind, workspace, record, fields, query }: Step, names: Names): Operands {
  const workspaceId = names.workspaces[workspace] as string;
  const [id, otherId] = [names.ids[record], names.ids[0]] as [string, string];
  const ownId = names.ids[record - (record % WORKSPACES) + workspace];
  const made: AnyRecord = models[kind].make(workspaceId, { createdBy: null, ...fields, id: ownId });
  return { records: kinds[kind], workspaceId, id, otherId, record: made, query };
}

function everything(storage: Kinds, { workspaces }: Names): Promise<unknown> {
  const page = { where: [], by: 'createdAt', order: 'asc', skip: 0, take: RECORDS } as const;
  return Promise.all(kinds.flatMap((kind) => workspaces.map((workspaceId) => storage[kind].list(workspaceId, page))));
}

function refusal(error: unknown): string {
  return error instanceof CoreError ? error.kind : String(error);
}
