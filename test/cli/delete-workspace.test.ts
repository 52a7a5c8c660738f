import assert from 'node:assert/strict';
import { deleteWorkspace } from '../../adapters/persistence/delete-workspace.ts';
import { globalStoreNames, recordSchemas, type StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import type { Application } from '../../core/application.ts';
import { doNothing } from '../../core/shared/do-nothing.ts';
import { assertExitCode, parseJsonOutput, runOnDatabase, startCommand } from '../support/command-line.ts';
import { testCore } from '../support/core.ts';
import { each } from '../support/each.ts';
import { withDatabase } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { withApplication, withDurableStorage, withEngine } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createTenant } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';
import { readAllRecords } from './read-all-records.ts';

const storeNames = Object.keys(recordSchemas) as (keyof typeof recordSchemas)[];

/** Creates two workspaces that have records of each type. Resolves to their IDs. */
async function fill(engine: StorageEngine, app: Application): Promise<readonly [doomed: string, kept: string]> {
  const ids: string[] = [];
  for (const name of ['doomed', 'kept']) {
    const { workspaceId, ids: records, admin } = await createTenant({ app }, name);
    await app.domains.markVerified(workspaceId, records.domains);
    const click = { campaignId: records.campaigns, memberId: admin.id, count: 1 };
    await app.shares.addClicks({ workspaceId, processId: workspaceId, sequence: 1, clicks: [click] });
    await engine.links.add({ id: name, workspaceId, campaignId: click.campaignId, memberId: admin.id });
    const request = { workspaceId, keyId: workspaceId, idempotencyKey: 'once', fingerprint: '' };
    await app.runOnce(request, async () => ({}));
    ids.push(workspaceId);
  }
  return ids as unknown as readonly [string, string];
}

/** Returns the names of the stores that have records of a workspace. */
async function findStoresWith(engine: StorageEngine, workspaceId: string): Promise<string[]> {
  const names: string[] = [];
  for (const name of storeNames) if ((await engine[name].listById(workspaceId, '', 1)).length > 0) names.push(name);
  for (const name of globalStoreNames) {
    const text = JSON.stringify(await engine[name].list('', 1_000));
    if (text.includes(workspaceId)) names.push(name);
  }
  return names;
}

const withEngines: Readonly<
  Record<string, (test: (engine: StorageEngine, app: Application) => Promise<void>) => unknown>
> = {
  memory: (test) => {
    const { engine, app } = testCore();
    return test(engine, app);
  },
  sqlite: (test) => withDurableStorage((settings) => withEngine(settings, test)),
  mongodb: (test) => withDatabase((uri) => withEngine(createMongodbSettings(uri), test)),
};

suite('the deletion of a workspace', {
  'deletes all of its records on every engine, and no record of another workspace': () =>
    each(withEngines, (withEngineOf) =>
      withEngineOf(async (engine, app) => {
        const [doomed, kept] = await fill(engine, app);
        const allNames = [...storeNames, 'credentials', 'links', 'verifiedSlugs', 'webhookWorkspaces', 'workspaces'];
        const names = await findStoresWith(engine, doomed);
        assert.deepEqual(names, allNames);
        const { [kept]: before } = await readByWorkspace(engine);
        const control = { signal: new AbortController().signal, onProgress: doNothing, settleMs: 0 };
        const { isComplete, deletedCount } = await deleteWorkspace(engine, doomed, control);
        assert.ok(isComplete && deletedCount >= storeNames.length);
        assert.deepEqual(await findStoresWith(engine, doomed), []);
        assert.deepEqual(await readByWorkspace(engine), { [kept]: before });
      }),
    ),

  'can be repeated after an interruption, and reports its progress': async () => {
    const { engine, app } = testCore();
    const [doomed] = await fill(engine, app);
    const progress: (readonly [number, number])[] = [];
    for (let isComplete = false; !isComplete; ) {
      const controller = new AbortController();
      const onProgress = (count: number, total: number) => {
        progress.push([count, total]);
        if (count > 0) controller.abort();
      };
      const control = { signal: controller.signal, onProgress, settleMs: 0 };
      ({ isComplete } = await deleteWorkspace(engine, doomed, control));
      assert.equal((await findStoresWith(engine, doomed)).includes('workspaces'), !isComplete);
    }
    assert.ok(progress.length > storeNames.length, `${progress.length}`);
    for (const [count, total] of progress) assert.ok(count <= total);
    assert.deepEqual(await findStoresWith(engine, doomed), []);
  },

  'deletes what a server stores meanwhile, and stops the keys within five seconds': () =>
    withDurableStorage(async (env) => {
      const { key, workspaceId } = await withApplication(env, (app) => createTenant({ app }, 'doomed'));
      await withApplication(env, (app) => createTenant({ app }, 'kept'));
      const server = startCommand(['serve'], { ...env, PORT: '0' });
      try {
        const url = await server.waitForOutput(/listens on (http:[^\s"]+)/);
        const createTag = async (name: string) => {
          const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
          return (await fetch(`${url}/tags`, { method: 'POST', headers, body: JSON.stringify({ name }) })).status;
        };
        assert.equal(await createTag('first'), 201);
        const startedAt = Date.now();
        const deletion = runOnDatabase(['workspace', 'delete', '--workspace', 'doomed', '--yes', '--json'], env);
        let count = 0;
        await waitUntil(async () => (await createTag(`tag ${++count}`)) === 401);
        assert.ok(Date.now() - startedAt < 5_500, `${Date.now() - startedAt} ms`);
        const { id, ended } = parseJsonOutput(await deletion);
        assert.deepEqual([id, ended], [workspaceId, 'done']);
        assert.deepEqual(await withEngine(env, (engine) => findStoresWith(engine, workspaceId)), []);
      } finally {
        server.child.kill('SIGTERM');
      }
      assertExitCode(await server.output, 0);
    }),

  'needs --workspace and --yes, and exits with 130 if it is interrupted': () =>
    withDurableStorage(async (env) => {
      const run = (line: string, onInterrupt?: (stop: () => void) => void) =>
        runOnDatabase(['workspace', 'delete', ...line.split(' ').filter(Boolean)], env, onInterrupt && { onInterrupt });
      const missing = '--workspace: is required; --yes: is required, because the deletion is permanent';
      assert.deepEqual(await run(''), { code: 2, stdout: '', stderr: `error: ${missing}\n` });
      await withApplication(env, (app) => createTenant({ app }, 'doomed'));
      const { code, stdout } = await run('--workspace doomed --yes', (stop) => stop());
      assert.deepEqual(
        [code, /^Stopped after \d+ records?\. To continue, repeat the command\.\n$/.test(stdout)],
        [130, true],
      );
      assert.equal((await run('--workspace other --yes')).code, 2);
    }),
});

/** Returns all records by the IDs of their workspaces. */
async function readByWorkspace(engine: StorageEngine): Promise<Readonly<Record<string, unknown[]>>> {
  const byWorkspace: Record<string, unknown[]> = {};
  for (const [name, records] of Object.entries(await readAllRecords(engine))) {
    for (const record of records as readonly { readonly id: string; readonly workspaceId?: string }[]) {
      if (name === 'visitorKeys') continue;
      const workspaceId = record.workspaceId ?? record.id;
      byWorkspace[workspaceId] = [...(byWorkspace[workspaceId] ?? []), record];
    }
  }
  return byWorkspace;
}
