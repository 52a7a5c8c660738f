import assert from 'node:assert/strict';
import { planList } from '../../adapters/persistence/list-plan.ts';
import type { AnyRecord, Condition } from '../../adapters/persistence/record-store.ts';
import { suite } from '../support/suite.ts';

const schema = {
  columns: { archived: 'boolean', active: 'boolean', owner: 'text', tags: 'texts', name: 'text', time: 'number' },
  unique: ['name'],
  indexes: [
    ['archived', 'time'],
    ['active', 'time'],
    ['owner', 'time'],
    ['tags', 'time'],
    ['archived', 'owner', 'size'],
    ['time'],
    ['owner', 'size'],
  ],
} as const;

const isOneOf = (field: string, ...values: (string | boolean)[]): Condition<AnyRecord> => ({ field, in: values });
const archived = isOneOf('archived', false);
const ada = isOneOf('owner', 'ada');
const either = isOneOf('tags', 'red', 'blue');

interface Summary {
  readonly lookup: string;
  /** The fields of the index with the order. An asterisk marks a selective one. */
  readonly ordered: string;
  readonly selective: string;
}

function summarize(where: readonly Condition<AnyRecord>[], by: string, mergesValues: boolean): Summary {
  const { lookup, ordered, selective } = planList(schema, { where, by }, mergesValues);
  for (const { fields, fixed } of ordered ? [ordered] : []) {
    assert.deepEqual([...fixed.map(({ field }) => field), by], fields);
  }
  for (const { fields, condition } of selective) assert.equal(fields[0], condition.field);
  return {
    lookup: lookup.map(({ field }) => field).join(),
    ordered: `${ordered?.fields}${ordered?.isSelective ? '*' : ''}`,
    selective: selective.map(({ condition }) => condition.field).join(),
  };
}

/** Lists, with the expected plan if the engine cannot keep the order of several values. */
const cases: Readonly<
  Record<string, readonly [where: readonly Condition<AnyRecord>[], by: string, plan: Partial<Summary>]>
> = {
  'without conditions': [[], 'time', { ordered: 'time' }],
  'with a flag': [[archived], 'time', { ordered: 'archived,time' }],
  'with two flags': [[archived, isOneOf('active', true)], 'time', { ordered: 'active,time' }],
  'with both values of a flag': [[isOneOf('archived', true, false)], 'time', { ordered: 'time' }],
  'with one value of a field': [[ada], 'time', { ordered: 'owner,time*', selective: 'owner' }],
  'with one value, given twice': [
    [isOneOf('owner', 'ada', 'ada')],
    'time',
    { ordered: 'owner,time*', selective: 'owner' },
  ],
  'with a value and a flag': [[archived, ada], 'time', { ordered: 'owner,time*', selective: 'owner' }],
  'with a value and a flag that share an index': [
    [archived, ada],
    'size',
    { ordered: 'owner,size*', selective: 'owner' },
  ],
  'with two selective fields': [
    [isOneOf('tags', 'red'), ada],
    'time',
    { ordered: 'tags,time*', selective: 'tags,owner' },
  ],
  'with several values of a field': [[archived, either], 'time', { ordered: 'archived,time', selective: 'tags' }],
  'with no value': [[isOneOf('owner')], 'time', { ordered: 'time', selective: 'owner' }],
  'with a range of the order': [[{ field: 'time', from: 1 }], 'time', { ordered: 'time' }],
  'with a search': [[{ field: 'owner', contains: 'ada' }], 'time', { ordered: 'time' }],
  'in an order without an index': [[archived], 'name', {}],
  'with an ID': [[isOneOf('id', 'a', 'b'), archived], 'time', { lookup: 'id', ordered: 'archived,time' }],
  'with a unique value': [[isOneOf('name', 'x')], 'time', { lookup: 'name', ordered: 'time' }],
  'with a search in a unique field': [[{ field: 'name', contains: 'x' }], 'time', { ordered: 'time' }],
};

suite('the plan of a list', [
  ...Object.entries(cases).map(
    ([name, [where, by, plan]]) =>
      [
        name,
        () => {
          const expected = { lookup: '', ordered: 'undefined', selective: '', ...plan };
          assert.deepEqual(summarize(where, by, false), expected);
        },
      ] as const,
  ),
  [
    'fixes a field by several values if the engine keeps their order',
    () => {
      assert.equal(summarize([archived, either], 'time', true).ordered, 'tags,time*');
      assert.equal(summarize([isOneOf('archived', true, false)], 'time', true).ordered, 'archived,time');
    },
  ],
]);
