import assert from 'node:assert/strict';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { createMemoryEngine } from '../../adapters/memory/engine.ts';
import type { CampaignRecord } from '../../adapters/persistence/campaigns.ts';
import type { Condition, Query } from '../../adapters/persistence/record-store.ts';
import type { StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import type { Database } from '../../adapters/sqlite/database.ts';
import { buildCampaign, newId } from '../contract/samples.ts';
import { addAll } from '../support/add-all.ts';
import { suite } from '../support/suite.ts';
import { withDatabasePath, withOpenEngine } from './database-file.ts';

type CampaignCondition = Condition<CampaignRecord>;

/** More matches than a list sorts (`MAX_SORTED_COUNT` in adapters/sqlite/list.ts). */
const CAMPAIGN_COUNT = 3000;

const formatTime = (number: number) => new Date(1.8e12 + number * 1000).toISOString();

function buildCampaigns(workspaceId: string, count: number): CampaignRecord[] {
  return Array.from({ length: count }, (_, i) =>
    buildCampaign(workspaceId, {
      archived: i % 7 === 0,
      createdAt: formatTime(i % 1000),
      updatedAt: formatTime((i * 7) % 1000),
      startsAt: (i * 13) % 500,
      endsAt: (i * 17) % 500,
      tagIds: [`tag-${i % 2}`, `tag-${i % 100}`, 'all'],
      domain: i % 3 === 0 ? 'often.example' : i % 100 === 1 ? 'seldom.example' : null,
      createdBy: `user-${i % 2}`,
      searchText: `often ${i % 100 === 1 ? 'seldom' : ''} number ${i}ςab`,
    }),
  );
}

const active: CampaignCondition = { field: 'archived', in: [false] };
const contains = (term: string): CampaignCondition => ({ field: 'searchText', contains: term });
const cases: readonly CampaignCondition[][] = [
  [],
  [active],
  [{ field: 'tagIds', in: ['all'] }],
  [{ field: 'tagIds', in: ['tag-1', 'all', 'absent'] }],
  [active, { field: 'tagIds', in: ['tag-0', 'tag-1', 'all'] }],
  [
    { field: 'tagIds', in: ['tag-0'] },
    { field: 'tagIds', in: ['tag-1'] },
  ],
  [active, { field: 'tagIds', in: ['tag-50', 'tag-51'] }],
  [active, { field: 'domain', in: ['often.example'] }],
  [active, { field: 'domain', in: ['often.example', 'seldom.example'] }, { field: 'createdBy', in: ['user-1'] }],
  [{ field: 'domain', in: ['seldom.example'] }],
  [active, contains('often')],
  [active, contains('seldom')],
  [contains('number 29')],
  [active, contains('absent')],
  [contains('ab')],
  [contains('b9')],
  [contains('"')],
  [contains('often " OR')],
  [active, contains('often'), contains('seldom'), { field: 'tagIds', in: ['all'] }],
  [active, { field: 'startsAt', from: 100, to: 300 }, { field: 'endsAt', from: 200 }],
  [active, { field: 'startsAt', from: 499 }],
  [{ field: 'name', in: ['absent'] }],
];
const windows = [
  [0, 21],
  [40, 21],
  [2100, 21],
  [2990, 21],
] as const;

suite('a SQLite engine that reads', {
  'returns the same lists of thousands of campaigns as the memory engine': withDatabasePath((file) =>
    withOpenEngine(file, async ({ engine }) => {
      const memory = createMemoryEngine(Date.now);
      const workspaceId = newId();
      const campaigns = buildCampaigns(workspaceId, CAMPAIGN_COUNT);
      for (const storage of [engine, memory]) {
        await addAll(storage.campaigns, [...campaigns, ...buildCampaigns(newId(), 100)]);
      }
      const compare = async (storage: StorageEngine) => {
        for (const where of cases) {
          assert.equal(
            await storage.campaigns.count(workspaceId, where),
            await memory.campaigns.count(workspaceId, where),
          );
          for (const by of ['createdAt', 'updatedAt', 'startsAt'] as const) {
            for (const [i, [skip, take]] of windows.entries()) {
              const query: Query<CampaignRecord, 'id'> = {
                where,
                by,
                order: i % 2 ? 'asc' : 'desc',
                skip,
                take,
                fields: ['id'],
              };
              const [found, expected] = [
                await storage.campaigns.list(workspaceId, query),
                await memory.campaigns.list(workspaceId, query),
              ];
              const toIds = (list: readonly { id: string }[]) => list.map(({ id }) => id);
              assert.deepEqual(toIds(found), toIds(expected), JSON.stringify(query));
            }
          }
        }
      };
      await compare(engine);
      await engine.runInTransaction(compare);
    }),
  ),

  'counts records in an index, without reading the records': withDatabasePath((file) =>
    withOpenEngine(file, async ({ engine, reader }) => {
      const statements = [
        ...(await recordStatements(reader, () => engine.members.count('w', [{ field: 'groupIds', in: ['x'] }]))),
        ...(await recordStatements(reader, () => engine.tags.count('w', [{ field: 'color', in: ['red'] }]))),
      ];
      assert.equal(statements.length, 2);
      for (const sql of statements) {
        const plan = reader.all(`EXPLAIN QUERY PLAN ${sql}`).map((row) => row[3] as string);
        assert.ok(!plan.some((step) => /^SCAN (?!json_each)/.test(step)), `${plan}`);
        assert.ok(
          plan.some((step) => /USING (?:COVERING INDEX|PRIMARY KEY).*workspaceId=\? AND \w+=\?/.test(step)),
          `${plan}`,
        );
        assert.ok(!plan.some((step) => step.includes('INTEGER PRIMARY KEY')), `${plan}`);
      }
    }),
  ),

  'reads one state of the data during a scan, although the event loop runs': withDatabasePath((file) =>
    withOpenEngine(file, async ({ engine }) => {
      const workspaceId = newId();
      await addAll(engine.campaigns, buildCampaigns(workspaceId, CAMPAIGN_COUNT));
      // A search for two characters uses no index, so the list scans all campaigns.
      const target = buildCampaign(workspaceId, { createdAt: formatTime(-1), searchText: 'q!' });
      await engine.campaigns.add(target);
      const query = { where: [contains('q!')], by: 'createdAt', order: 'desc', skip: 0, take: 21 } as const;
      const scans = Promise.all(Array.from({ length: 2 }, () => engine.campaigns.list(workspaceId, query)));
      // The campaign moves to the start of the list, which the scans have already read.
      await nextIteration();
      await engine.campaigns.update(workspaceId, target.id, (it) => ({ ...it, createdAt: formatTime(9999) }));
      for (const found of await scans) assert.deepEqual(found, [target]);
    }),
  ),

  'settles running and waiting scans when it is closed': withDatabasePath((file) =>
    withOpenEngine(file, async ({ engine, connection }) => {
      const workspaceId = newId();
      await addAll(engine.campaigns, buildCampaigns(workspaceId, 1000));
      const query = { where: [contains('q!')], by: 'createdAt', order: 'desc', skip: 0, take: 21 } as const;
      const scans = Array.from({ length: 40 }, () => engine.campaigns.list(workspaceId, query));
      const settled = Promise.allSettled(scans);
      await Promise.race(scans);
      await connection.close();
      assert.ok((await settled).some(({ status }) => status === 'rejected'));
    }),
  ),
});

/** Returns the statements that a read prepares. */
async function recordStatements(reader: Database, read: () => Promise<unknown>): Promise<string[]> {
  const statements: string[] = [];
  const all = reader.all.bind(reader);
  reader.all = (sql, ...values) => {
    statements.push(sql);
    return all(sql, ...values);
  };
  await read();
  reader.all = all;
  return statements;
}
