import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Database, retryWhileBusy } from '../../adapters/sqlite/database.ts';
import { damagePage } from '../sqlite/damage-page.ts';
import { assertExitCode, runProcess } from '../support/command-line.ts';
import { assertInternalError, Ledger } from '../support/ledger.ts';
import { listCampaigns } from '../support/list-campaigns.ts';
import { send } from '../support/load.ts';
import { MissingDependencyError } from '../support/missing-dependency-error.ts';
import { type ServiceProcess, withProcess } from '../support/process.ts';
import { campaignBody } from '../support/samples.ts';
import { isLong, quickOrLong } from '../support/scale.ts';
import { scrape } from '../support/scrape.ts';
import { type Environment, withApplication } from '../support/storage.ts';
import { suite, type Test } from '../support/suite.ts';
import { withTemporaryFolder } from '../support/temporary-folder.ts';
import { createCampaignFields, createWorkspace, type TestWorkspace } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

/** In a long run, this is long enough for a write to fail. */
const LOCK_DURATION_MS = quickOrLong(1_500, 12_000);
const BUSY_MESSAGE =
  'Another process has used the database file for 10 seconds: stop that process, or try again later.';
const run = promisify(execFile);

interface Setup extends TestWorkspace {
  readonly file: string;
  readonly settings: Environment;
}

/** Creates a test with a workspace in a SQLite file on the disk. */
const withFile =
  (test: (setup: Setup) => Promise<void>): Test =>
  () =>
    withTemporaryFolder(async (folder) => {
      const file = join(folder, 'advocacy.db');
      const settings = { STORAGE: 'sqlite', SQLITE_FILE: file, DEMO_API_KEY: undefined as never, METRICS_PORT: '0' };
      await test({ file, settings, ...(await withApplication(settings, createWorkspace)) });
    });

/** Limits the size of the files that a running process writes. A write over the limit fails, as on a full disk. */
async function limitFileSize({ child }: ServiceProcess, bytes: number | 'unlimited'): Promise<void> {
  await run('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:unlimited`]).catch((error) => {
    throw error.code === 'ENOENT' ? new MissingDependencyError('`prlimit` of util-linux is not installed.') : error;
  });
}

suite('a server whose disk is full', {
  'fails writes with 500, serves reads, and recovers without a restart': withFile(
    async ({ settings, file, key, workspaceId }) => {
      await withProcess(settings, async (service) => {
        const { url } = service;
        const ledger = new Ledger(() => url, key);
        const get = (path: string) => send(url, { path, key });
        for (let i = 0; i < 20; i++) assert.equal((await ledger.write(0, i)).status, 201);
        // From now on, no file can grow beyond the current size of the write-ahead log.
        await limitFileSize(service, statSync(`${file}-wal`).size);
        const body = { ...campaignBody, description: 'x'.repeat(4_000) };
        const post = () => send(url, { method: 'POST', path: '/campaigns', key, body });
        const responses = await Promise.all(Array.from({ length: 50 }, post));
        const failed = responses.filter(({ status }) => status !== 201);
        assert.ok(failed.length > 0);
        for (const response of failed) assertInternalError(response);
        assert.equal((await get('/campaigns')).status, 200);
        assert.equal((await get('/campaigns?search=campaign')).status, 200);
        assert.equal((await get('/readyz')).status, 200);
        await limitFileSize(service, 'unlimited');
        for (let i = 20; i < 40; i++) assert.equal((await ledger.write(0, i)).status, 201);
        await ledger.assertStored(settings, workspaceId);
        const stored = await withApplication(settings, (app) => listCampaigns(app, workspaceId));
        assert.equal(stored.length, 40 + responses.length - failed.length);
      });
    },
  ),
});

suite('a server and a command whose SQLite file another process has locked', {
  'reject writes that wait for ten seconds and complete all others, while the server serves reads at once': withFile(
    async ({ settings, file, key }) => {
      await withProcess({ ...settings, LOG_LEVEL: 'error' }, async ({ url, output }) => {
        const post = (name: string) => send(url, { method: 'POST', path: '/tags', key, body: { name } });
        assert.equal((await post('before')).status, 201);
        const other = await retryWhileBusy(() => new Database(file, false, 'BEGIN IMMEDIATE'));
        try {
          const posting = post('while the file is locked');
          const running = runProcess(['workspace', 'create', '--name', 'Contoso'], { ...settings, LOG_LEVEL: 'warn' });
          const end = performance.now() + LOCK_DURATION_MS;
          while (performance.now() < end) {
            for (const path of ['/campaigns', '/campaigns?search=launch', '/readyz']) {
              const { status, milliseconds } = await send(url, { path, key });
              assert.equal(status, 200);
              assert.ok(milliseconds < 1_000, `${path} took ${milliseconds} ms`);
            }
            await delay(20);
          }
          // In a quick run, the writes must get the lock within ten seconds, so it is released before they are awaited.
          other.exec('ROLLBACK');
          const [posted, { code, stderr }] = await Promise.all([posting, running]);
          if (isLong) {
            assertInternalError(posted);
            assert.ok(posted.milliseconds >= 10_000 && posted.milliseconds < 11_000, `${posted.milliseconds} ms`);
            assert.ok(output.stderr.includes(BUSY_MESSAGE), output.stderr);
            assert.deepEqual({ code, stderr }, { code: 2, stderr: `error: ${BUSY_MESSAGE}\n` });
            // Names are unique, so this shows that the rejected tag was not stored.
            assert.equal((await post('while the file is locked')).status, 201);
          } else {
            assert.equal(posted.status, 201);
            assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
          }
          assert.equal((await post('after')).status, 201);
        } finally {
          await other.close();
        }
      });
    },
  ),
});

suite('a server whose SQLite file is missing, or was replaced by another file', {
  'is not ready until the file is back': withFile(async ({ settings, file, key }) => {
    await withProcess(settings, async (service) => {
      const getStatus = async () => (await fetch(`${service.url}/readyz`)).status;
      const getMetric = async () => (await scrape(service)).get('storage_up');
      assert.deepEqual([await getStatus(), await getMetric()], [200, 1]);
      renameSync(file, `${file}.moved`);
      assert.deepEqual([await getStatus(), await getMetric()], [503, 0]);
      writeFileSync(file, 'another file');
      assert.deepEqual([await getStatus(), await getMetric()], [503, 0]);
      assert.equal((await fetch(`${service.url}/healthz`)).status, 200);
      renameSync(`${file}.moved`, file);
      assert.deepEqual([await getStatus(), await getMetric()], [200, 1]);
      assert.equal((await send(service.url, { path: '/campaigns', key })).status, 200);
    });
  }),
});

suite('a server with a damaged part in its SQLite file', {
  'fails only requests that need this part, and writes in their commit group, until a backup is restored': withFile(
    async ({ settings, file, key, workspaceId, admin }) => {
      const campaigns = await withApplication(settings, (app) => {
        const create = (name: string) =>
          app.campaigns.create({ workspaceId, member: admin }, createCampaignFields(name));
        return Promise.all(Array.from({ length: 100 }, (_, i) => create(`campaign ${i}`)));
      });
      const backup = `${file}.backup`;
      assertExitCode(await runProcess(['backup', backup], settings), 0);
      let damaged = '';
      await withProcess({ ...settings, LOG_LEVEL: 'error' }, async ({ url, output }) => {
        const content = await damagePage(file, 'campaigns');
        damaged = campaigns.find(({ id }) => content.includes(id))?.id ?? '';
        const request = (path: string, method?: 'PATCH' | 'POST', body?: object) =>
          send(url, { path, key, ...(method && { method }), ...(body && { body }) });
        assertInternalError(await request(`/campaigns/${damaged}`), false);
        const pages = await Promise.all([1, 2, 3, 4].map((page) => request(`/campaigns?pageSize=25&page=${page}`)));
        const failedPages = pages.filter(({ status }) => status !== 200);
        assert.ok(failedPages.length === 1 || failedPages.length === 2, `${failedPages.length} of 4 pages failed`);
        for (const response of failedPages) assertInternalError(response, false);
        await waitUntil(() => output.stderr.includes('database disk image is malformed'));
        for (const path of [`/campaigns/${campaigns[0]?.id}`, '/tags', '/readyz']) {
          assert.equal((await request(path)).status, 200, path);
        }
        const changing = request(`/campaigns/${damaged}`, 'PATCH', { name: 'changed' });
        const post = (name: string) => request('/tags', 'POST', { name });
        const posted = await Promise.all(['one', 'two', 'three', 'four'].map(post));
        assertInternalError(await changing, false);
        for (const response of posted) if (response.status !== 201) assertInternalError(response, false);
        posted.push(await post('five'));
        assert.equal(posted.at(-1)?.status, 201);
        const tags: readonly { readonly id: string }[] = JSON.parse((await request('/tags')).text);
        const acknowledged = posted.filter(({ status }) => status === 201).map(({ text }) => JSON.parse(text).id);
        assert.deepEqual(new Set(tags.map(({ id }) => id)), new Set(acknowledged));
        const failed = await runProcess(['backup', `${backup}2`], settings);
        assertExitCode(failed, 2);
        assert.equal(failed.stderr, `error: Cannot write ${backup}2: database disk image is malformed.\n`);
      });
      const getStatus = async ({ url }: ServiceProcess) =>
        (await send(url, { path: `/campaigns/${damaged}`, key })).status;
      await withProcess(settings, async (service) => assert.equal(await getStatus(service), 500));
      for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
      copyFileSync(backup, file);
      await withProcess(settings, async (service) => assert.equal(await getStatus(service), 200));
    },
  ),
});
