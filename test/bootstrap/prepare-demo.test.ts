import assert from 'node:assert/strict';
import { createNodeSystem } from '../../adapters/node/system.ts';
import { createStorage, type StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import { type PreparedDemo, prepareDemo } from '../../bootstrap/prepare-demo.ts';
import { readSettings } from '../../bootstrap/read-settings.ts';
import { StartupError } from '../../bootstrap/startup-error.ts';
import { isApiKeySecret } from '../../core/access/api-key.ts';
import { Application } from '../../core/application.ts';
import type { System } from '../../core/shared/system.ts';
import { collectAll } from '../support/collect-all.ts';
import { each } from '../support/each.ts';
import { engines } from '../support/engines/engines.ts';
import { listCampaigns } from '../support/list-campaigns.ts';
import { suite, type Test } from '../support/suite.ts';

const KEY = 'demo-key-of-the-tests';
const system = createNodeSystem();

interface Start {
  readonly engine: StorageEngine;
  readonly app: Application;
  /** Prepares the storage as the start of a server does. */
  prepare(settings?: Readonly<Record<string, string>>, system?: System): Promise<PreparedDemo>;
}

/** Creates a test that runs on an empty storage of each engine that can have a demo workspace. */
function onEachEngine(test: (start: Start) => Promise<void>): Test {
  return () =>
    each({ memory: engines.memory, sqlite: engines.sqlite }, async (load) => {
      const { createDatabase, open } = await load();
      const { location, remove } = await createDatabase();
      const { engine, close } = await open(location, Date.now);
      try {
        const app = new Application(createStorage(engine), system);
        const prepare: Start['prepare'] = (settings = {}, ownSystem = system) =>
          prepareDemo(engine, ownSystem, readSettings(settings));
        await test({ engine, app, prepare });
      } finally {
        await close();
        await remove();
      }
    });
}

const listWorkspaceIds = async ({ app }: Start) => (await collectAll(app.workspaces.iterate())).map(({ id }) => id);

const listKeys = async ({ apiKeys }: Start['app'], workspaceId: string) =>
  (await apiKeys.list(workspaceId, { includeEnded: true, page: 1, pageSize: 100 })).items;

async function assertRejected(start: Start, problem: RegExp): Promise<void> {
  const keysOf = async () =>
    (await Promise.all((await listWorkspaceIds(start)).map((id) => listKeys(start.app, id)))).flat();
  const before = await keysOf();
  await assert.rejects(start.prepare({ DEMO_API_KEY: KEY }), (error) => {
    assert.ok(error instanceof StartupError, String(error));
    assert.equal(error.lines.length, 1);
    assert.match(error.lines[0] as string, /^DEMO_API_KEY: /);
    assert.match(error.lines[0] as string, problem);
    assert.ok(!error.message.includes(KEY));
    return true;
  });
  assert.deepEqual(await keysOf(), before);
}

suite('the preparation of a storage', {
  'creates the demo workspace with a new key once, even if several servers start at the same time': onEachEngine(
    async (start) => {
      const prepared = await Promise.all([start.prepare(), start.prepare(), start.prepare()]);
      const [{ demo, firstWorkspaceId }, ...others] = prepared.toSorted((a) => (a.demo ? -1 : 1)) as [PreparedDemo];
      for (const other of others) assert.deepEqual(other, { demo: undefined, firstWorkspaceId });
      assert.ok(demo && isApiKeySecret(demo.apiKey));
      assert.equal(demo.workspaceId, firstWorkspaceId);
      const { caller } = await start.app.apiKeys.authenticate(demo.apiKey);
      assert.deepEqual([caller.workspaceId, caller.access, caller.member?.role], [firstWorkspaceId, 'full', 'admin']);
      assert.deepEqual(await start.prepare(), { demo: undefined, firstWorkspaceId });
      assert.deepEqual(await listWorkspaceIds(start), [firstWorkspaceId]);
    },
  ),

  'creates no demo workspace beside another workspace, or with DEMO_WORKSPACE=false': onEachEngine(async (start) => {
    const empty = { demo: undefined, firstWorkspaceId: undefined };
    assert.deepEqual(await start.prepare({ DEMO_WORKSPACE: 'false' }), empty);
    const { id } = await start.app.workspaces.create('Contoso');
    for (const DEMO_WORKSPACE of ['true', 'false']) {
      assert.deepEqual(await start.prepare({ DEMO_WORKSPACE }), { demo: undefined, firstWorkspaceId: id });
    }
    assert.deepEqual(await listWorkspaceIds(start), [id]);
  }),

  'creates the whole demo workspace or nothing': onEachEngine(async (start) => {
    const { engine, prepare, app } = start;
    let idCount = 0;
    let maxIdCount = 1;
    const newId = () => {
      if (++idCount > maxIdCount) throw new Error('crashed');
      return system.newId();
    };
    const isCreated = () =>
      prepare({}, { ...system, newId }).then(
        () => true,
        () => false,
      );
    for (; !(await isCreated()); idCount = 0, maxIdCount++) {
      assert.deepEqual(await listWorkspaceIds(start), []);
      assert.deepEqual(await engine.credentials.list('', 1), []);
      assert.deepEqual(await engine.verifiedSlugs.list('', 1), []);
    }
    assert.ok(maxIdCount > 20);
    const [workspaceId = ''] = await listWorkspaceIds(start);
    assert.equal((await listCampaigns(app, workspaceId)).length, 8);
  }),

  'ensures that DEMO_API_KEY is a key of the demo admin, in a new and in an existing storage': onEachEngine(
    async (start) => {
      const { app, prepare } = start;
      const first = await prepare({ DEMO_API_KEY: KEY });
      const other = 'another-key-of-the-tests';
      assert.equal(first.demo?.apiKey, KEY);
      // Other workspaces can have the same name.
      await app.workspaces.create('Northwind Outdoor');
      assert.deepEqual(await prepare({ DEMO_API_KEY: KEY }), first);
      assert.deepEqual(await prepare({ DEMO_API_KEY: other }), { ...first, demo: { ...first.demo, apiKey: other } });
      assert.deepEqual(await prepare({ DEMO_API_KEY: KEY }), first);
      const keys = await listKeys(app, first.firstWorkspaceId as string);
      assert.deepEqual(
        keys.map(({ lastFour, access, label }) => [lastFour, access, label]),
        [
          [other.slice(-4), 'full', 'demo'],
          [KEY.slice(-4), 'full', 'demo'],
        ],
      );
      assert.equal(new Set(keys.map(({ memberId }) => memberId)).size, 1);
      assert.equal((await app.apiKeys.authenticate(KEY)).caller.member?.role, 'admin');
    },
  ),

  'rejects DEMO_API_KEY if the storage has workspaces, but not the demo workspace': onEachEngine(async (start) => {
    const { id } = await start.app.workspaces.create('Northwind Outdoor');
    await assertRejected(start, /has other workspaces, but not the demo workspace/);
    await start.app.members.create(id, { name: 'Ada', email: 'ada.winter@northwind.example', role: 'member' });
    await assertRejected(start, /has other workspaces, but not the demo workspace/);
  }),

  'rejects a DEMO_API_KEY that is revoked, expired or not a full key of the demo admin': onEachEngine(async (start) => {
    const { app, prepare } = start;
    const workspaceId = (await prepare()).firstWorkspaceId as string;
    const admin = await app.members.find(workspaceId, 'ada.winter@northwind.example');
    const advocate = await app.members.find(workspaceId, 'ben.sommer@northwind.example');
    const { id: otherId } = await app.workspaces.create('Contoso');
    const memberId = admin?.id as string;
    const problem = /revoked, has expired, or is not a full key of the admin of the demo workspace, set another key$/;
    const keys = {
      'read-only key of the admin': () => app.apiKeys.create(workspaceId, { memberId, access: 'read', secret: KEY }),
      'key of another member': () => app.apiKeys.create(workspaceId, { memberId: advocate?.id as string, secret: KEY }),
      'key of no member': () => app.apiKeys.create(workspaceId, { secret: KEY }),
      'key of another workspace': () => app.apiKeys.create(otherId, { secret: KEY }),
      'revoked key': async () => {
        const { apiKey } = await app.apiKeys.create(workspaceId, { memberId, secret: KEY });
        await app.apiKeys.revoke(workspaceId, apiKey.id);
      },
    };
    const createExpired = async () => {
      const { apiKey } = await app.apiKeys.create(workspaceId, { memberId, secret: KEY });
      const expiresAt = '2020-01-01T00:00:00.000Z';
      await start.engine.apiKeys.update(workspaceId, apiKey.id, (key) => ({ ...key, expiresAt }));
    };
    await each({ ...keys, 'expired key': createExpired }, async (create) => {
      await create();
      await assertRejected(start, problem);
      await start.engine.credentials.remove(system.sha256(KEY));
    });
  }),
});
