import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { copyAndCompare } from '../../adapters/persistence/copy.ts';
import { recordSchemas } from '../../adapters/persistence/storage-engine.ts';
import type { Application } from '../../core/application.ts';
import { doNothing } from '../../core/shared/do-nothing.ts';
import { assertExitCode, type CommandOutput, parseJsonOutput, runOnDatabase } from '../support/command-line.ts';
import { each } from '../support/each.ts';
import { withDatabase } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { type Environment, withApplication, withEngine } from '../support/storage.ts';
import { suite, type Test } from '../support/suite.ts';
import { withTemporaryFolder } from '../support/temporary-folder.ts';
import { createCampaignFields, createTenant, createWorkspace } from '../support/tenants.ts';
import { readAllRecords } from './read-all-records.ts';

/** A database: the settings that select it as the source of a copy, and the URL that selects it as the target. */
interface Database {
  readonly settings: Environment;
  readonly url: string;
}

interface Setup {
  readonly folder: string;
  /** Returns the database in a SQLite file of the folder. */
  file(name: string): Database;
  readonly mongodb: Database;
}

const withSetup =
  (test: (setup: Setup) => Promise<void>): Test =>
  () =>
    withTemporaryFolder((folder) =>
      withDatabase((uri) => {
        const file = (name: string) => {
          const path = join(folder, name);
          return { settings: { STORAGE: 'sqlite', SQLITE_FILE: path }, url: `sqlite:${path}` };
        };
        return test({ folder, file, mongodb: { settings: createMongodbSettings(uri), url: uri } });
      }),
    );

const copy = (source: Database, target: Database, ...options: readonly string[]): Promise<CommandOutput> =>
  runOnDatabase(['copy', '--to', target.url, ...options], source.settings);

const readAll = ({ settings }: Database) => withEngine(settings, readAllRecords);

/** Fills a database with two workspaces that have a record of each type. Returns keys, of which the last is revoked. */
async function fill({ settings }: Database): Promise<readonly string[]> {
  return withApplication(settings, async (app) => {
    const [first, second] = [await createTenant({ app }, 'northwind'), await createTenant({ app }, 'contoso')];
    const share = { workspaceId: first.workspaceId, campaignId: first.ids.campaigns, memberId: first.admin.id };
    await app.shares.create({ workspaceId: share.workspaceId, member: first.admin }, share.campaignId);
    await app.links.getVisitorKey();
    const { workspaceId, ...link } = share;
    await app.shares.addClicks({ workspaceId, processId: 'writer', sequence: 1, clicks: [{ ...link, count: 3 }] });
    await app.domains.markVerified(second.workspaceId, second.ids.domains);
    const { apiKey, secret } = await app.apiKeys.create(first.workspaceId, {});
    await app.apiKeys.revoke(first.workspaceId, apiKey.id);
    await runWithIdempotencyKey(app, first.key);
    return [first.key, second.key, secret];
  });
}

/** Runs a change with an idempotency key. Returns whether its stored response was replayed. */
async function runWithIdempotencyKey(app: Application, key: string): Promise<boolean> {
  const { workspaceId, keyId } = (await app.apiKeys.authenticate(key)).caller;
  const request = { workspaceId, keyId, idempotencyKey: 'once', fingerprint: 'of its body' };
  return (await app.runOnce(request, async () => ({ status: 201, body: '{}' }))).replayed;
}

/** Removes the last uses of keys, which are recorded in the background. */
function omitLastUses(records: Awaited<ReturnType<typeof readAll>>): unknown {
  return { ...records, apiKeys: records.apiKeys?.map((key) => ({ ...(key as object), lastUsedAt: null })) };
}

suite('a copy', {
  'from SQLite to MongoDB and back has every record, and API keys still work': withSetup(async ({ file, mongodb }) => {
    const [source, back] = [file('source.db'), file('new/back.db')];
    const keys = await fill(source);
    const records = await readAll(source);
    for (const [name, list] of Object.entries(records)) assert.ok(list.length > 0, name);
    for (const [from, to] of [
      [source, mongodb],
      [mongodb, back],
    ] as const) {
      const { ended, processedCount, differentCount, counts } = parseJsonOutput(await copy(from, to, '--json'));
      assert.deepEqual([ended, processedCount, differentCount], ['done', Object.values(records).flat().length, 0]);
      const expiring = Object.entries(recordSchemas).filter(([, schema]) => 'expires' in schema);
      const expected = Object.entries(records).filter(([name]) => !expiring.some(([other]) => other === name));
      assert.deepEqual(
        Object.fromEntries(counts.map((it: { records: string; source: number; target: number }) => [it.records, it])),
        Object.fromEntries(
          expected.map(([name, { length }]) => [name, { records: name, source: length, target: length }]),
        ),
      );
      assert.deepEqual(omitLastUses(await readAll(to)), omitLastUses(records));
      await withApplication(to.settings, async (app) => {
        const [first = '', second = '', revoked = ''] = keys;
        for (const key of [first, second])
          assert.equal((await app.apiKeys.authenticate(key)).caller.member?.role, 'admin');
        await assert.rejects(app.apiKeys.authenticate(revoked), /revoked/);
        assert.equal(await runWithIdempotencyKey(app, first), true);
      });
    }
  }),

  'rejects a target that has a workspace, and says how to continue a copy': withSetup(async ({ file, mongodb }) => {
    const source = file('source.db');
    await fill(source);
    for (const target of [file('target.db'), mongodb]) {
      const { id } = await withApplication(target.settings, (app) => app.workspaces.create('Contoso'));
      const before = await readAll(target);
      const stderr = {
        '': 'error: --to: this database already has a workspace. Use an empty database, or continue an interrupted copy with --resume.\n',
        '--resume': `error: --to: this database has a workspace that the source does not have: ${id}. Use an empty database.\n`,
      };
      await each(stderr, async (expected, option) => {
        const output = await copy(source, target, ...option.split(' ').filter(Boolean));
        assert.deepEqual(output, { code: 2, stdout: '', stderr: expected });
      });
      assert.deepEqual(await readAll(target), before);
    }
  }),

  'rejects a target that it cannot use, without showing a password': withSetup(async ({ folder, file }) => {
    const source = file('source.db');
    await withApplication(source.settings, createWorkspace);
    writeFileSync(join(folder, 'text'), 'name,color\n'.repeat(1000));
    const unknown = /^error: --to: must be mongodb:\/\/…, mongodb\+srv:\/\/… or sqlite:FILE\n$/;
    const problems = {
      'postgres://ada:s3cret@localhost/x': unknown,
      's3cret.db': unknown,
      // After two slashes, a URL has a host. So this URL names no file.
      'sqlite://s3cret.db': unknown,
      '': unknown,
      'sqlite:': /^error: --to: must be the path of a file,? .*\n$/,
      'sqlite:sqlite:s3cret.db': /^error: --to: must be the path of a file, such as data\/advocacy\.db, not a URL\n$/,
      'mongodb:s3cret': /^error: --to: must be a URL that starts with mongodb:\/\/ or mongodb\+srv:\/\/\n$/,
      'mongodb://ada:s3cret@local host/x': /^error: --to: must be a URL with a host or host:port, .*\n$/,
      [`sqlite:${folder}/text`]: /^error: --to: \S+\/text is not a SQLite database, or it is damaged\. .*\n$/,
      [`sqlite:${folder}`]: /^error: --to: \S+ is a folder\. Choose a file in it\.\n$/,
    };
    await each(problems, async (problem, url) => {
      const output = await copy(source, { settings: {}, url });
      assertExitCode(output, 2);
      assert.equal(output.stdout, '');
      assert.match(output.stderr, problem);
      assert.doesNotMatch(output.stderr, /s3cret|MONGODB_URI|\n {4}at /);
    });
  }),

  'rejects a source that is missing or cannot be read': withSetup(async ({ folder, file }) => {
    writeFileSync(join(folder, 'text.db'), 'name,color\n'.repeat(1000));
    const problems = {
      'missing.db': /^error: SQLITE_FILE: this database does not exist\. /,
      'text.db': /^error: SQLITE_FILE: \S+ is not a SQLite database, or it is damaged\. .*\n$/,
    };
    await each(problems, async (problem, name) => {
      const output = await copy(file(name), file('target.db'));
      assertExitCode(output, 2);
      assert.equal(output.stdout, '');
      assert.match(output.stderr, problem);
    });
    assert.deepEqual(readdirSync(folder), ['text.db']);
    const output = await copy({ settings: { STORAGE: 'memory' }, url: '' }, file('target.db'));
    assertExitCode(output, 2);
    assert.match(output.stderr, /^error: STORAGE: must be sqlite or mongodb for this command\./);
  }),

  'to SQLite or MongoDB can be continued after Ctrl-C and after an outage': withSetup(async ({ file, mongodb }) => {
    const source = file('source.db');
    await fill(source);
    await withApplication(source.settings, async (app) => {
      const { workspaceId } = await findFirstTag(app);
      await Promise.all(
        Array.from({ length: 600 }, () => app.campaigns.create({ workspaceId }, createCampaignFields())),
      );
    });
    const records = await readAll(source);
    for (const target of [file('target.db'), mongodb]) {
      let stop = doNothing;
      // The progress of the first batch is written to a terminal at once.
      const terminal = new Writable({ write: (_chunk, _encoding, done) => [stop(), done()] });
      const args = ['copy', '--to', target.url];
      const interrupted = await runOnDatabase(args, source.settings, {
        onInterrupt: (onStop) => (stop = onStop),
        stderr: Object.assign(terminal, { isTTY: true, columns: 80 }),
      });
      assertExitCode(interrupted, 130);
      assert.match(
        interrupted.stdout,
        /^Stopped after \d+ records\. To continue, repeat the command with --resume\.\n$/,
      );

      await withEngine(source.settings, (from) =>
        withEngine(target.settings, async (to) => {
          let addedCount = 0;
          const add: typeof to.campaigns.add = async (campaign) => {
            if (addedCount++ === 300) throw new Error('The disk is full');
            await to.campaigns.add(campaign);
          };
          const failing = { ...to, campaigns: { ...to.campaigns, add } };
          const control = { signal: new AbortController().signal, onProgress: doNothing };
          await assert.rejects(copyAndCompare(from, failing, control), /The disk is full/);
        }),
      );
      const resumed = await copy(source, target, '--resume');
      assertExitCode(resumed, 0);
      assert.match(resumed.stdout, /^The target has \d+ records\.\n$/);
      assert.deepEqual(omitLastUses(await readAll(target)), omitLastUses(records));
    }
  }),

  'keeps the records of the target when it continues, and reports records that differ': withSetup(async ({ file }) => {
    const [source, target] = [file('source.db'), file('target.db')];
    await fill(source);
    assertExitCode(await copy(source, target), 0);
    const [workspaceId, tagId] = await withApplication(target.settings, async (app) => {
      const { workspaceId, tag } = await findFirstTag(app);
      await app.tags.update(workspaceId, tag.id, { name: 'Renamed' });
      return [workspaceId, tag.id] as const;
    });
    const resumed = await copy(source, target, '--resume');
    assertExitCode(resumed, 0);
    assert.equal(
      resumed.stderr,
      'warning: In the target, 1 record is missing or different. The copy does not change records that the target already has. If the source is right, copy to another empty database.\n',
    );
    const rename = (app: Application) => app.tags.update(workspaceId, tagId, { name: 'Renamed' });
    assert.equal((await withApplication(target.settings, rename)).name, 'Renamed');
    await withApplication(target.settings, (app) => app.tags.create(workspaceId, { name: 'Another' }));
    const after = await copy(source, target, '--resume');
    assertExitCode(after, 1);
    assert.match(
      after.stderr,
      /\nerror: The target has 3 instead of 2 tags\. A server has probably changed records during the copy\. Stop all servers, and copy to another empty database\.\n$/,
    );
  }),
});

async function findFirstTag(app: Application) {
  for await (const { id: workspaceId } of app.workspaces.iterate()) {
    const query = { sortBy: 'createdAt', sortOrder: 'asc', page: 1, pageSize: 1 } as const;
    const [tag] = (await app.tags.list(workspaceId, query)).items;
    if (tag) return { workspaceId, tag };
  }
  throw new Error('no tag');
}
