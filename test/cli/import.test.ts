import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { LOCK_TTL_MS } from '../../core/limits.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import { doNothing } from '../../core/shared/do-nothing.ts';
import { assertExitCode, createCommandLine, type RunOptions, type TestCommandLine } from '../support/command-line.ts';
import { NOON } from '../support/core.ts';
import { each } from '../support/each.ts';
import { withFixture } from '../support/fixture.ts';
import { listCampaigns } from '../support/list-campaigns.ts';
import { campaignBody } from '../support/samples.ts';
import { suite } from '../support/suite.ts';
import { withTemporaryFolder } from '../support/temporary-folder.ts';
import { waitUntil } from '../support/wait-until.ts';

const toNdjson = (bodies: readonly unknown[]) => bodies.map((body) => `${JSON.stringify(body)}\n`).join('');

/** Creates a workspace, and a function that imports into it from standard input. */
async function createWorkspace() {
  const cli = createCommandLine();
  const { id } = await cli.app.workspaces.create('Northwind');
  const runImport = (
    kind: string,
    stdin: RunOptions['stdin'],
    args: readonly string[] = [],
    options: RunOptions = {},
  ) => cli.run(['import', '--workspace', id, kind, '-', ...args], { ...options, stdin: stdin as never });
  return { ...cli, id, runImport };
}

/** Returns the names of the campaigns, which are numbers, in ascending order. */
async function listCampaignNames({ app }: TestCommandLine, id: string): Promise<string[]> {
  const names = (await listCampaigns(app, id)).map(({ name }) => name);
  return names.sort((a, b) => Number(a) - Number(b));
}

const createCampaignBodies = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ ...campaignBody, name: `${i + 1}` }));
const createNames = (count: number) => Array.from({ length: count }, (_, i) => `${i + 1}`);
const QUESTION = { question: 'What did you learn this week?', icon: 'sun' };

interface ImportCase {
  readonly store?: 'campaigns' | 'inspirationQuestions' | 'tags' | 'groups';
  readonly lines: readonly unknown[];
  readonly rejected: Readonly<Record<number, RegExp>>;
  readonly undetected: readonly number[];
}

/**
 * For each kind: lines, the reasons for the rejected lines by line number, and the rejected lines that a dry run does
 * not find.
 */
const importCases: Readonly<Record<string, ImportCase>> = {
  campaigns: {
    lines: [
      campaignBody,
      { ...campaignBody, tagIds: ['0190163d-8694-739b-aea5-966c26f8ad91'] },
      { ...campaignBody, colour: 1, name: '' },
      { ...campaignBody, startDate: '2026-07-01', endDate: '2026-06-01' },
      { ...campaignBody, totalBudget: '1.23456' },
      campaignBody,
    ],
    rejected: {
      2: /^tagIds\.0: must be the ID of a tag of this workspace$/,
      3: /^colour: unknown field, .*; name: must not be blank$/,
      4: /^endDate: must not be before startDate$/,
      5: /^totalBudget: must be a non-negative amount/,
    },
    undetected: [2],
  },
  questions: {
    store: 'inspirationQuestions',
    lines: [QUESTION, { question: 'Short?' }, { ...QUESTION, groups: ['x'] }, QUESTION],
    rejected: { 2: /^question: must have at least 10 characters$/, 3: /^groups\.0: must be a UUID$/ },
    undetected: [],
  },
  tags: {
    store: 'tags',
    lines: [{ name: 'One' }, { name: 'ONE' }, { name: 'a,b' }, { name: 'Taken' }, { name: ' Two ' }, { title: 'x' }],
    rejected: {
      2: /^This workspace already has a tag with this name/,
      3: /^name: must not contain a comma$/,
      4: /^This workspace already has a tag with this name/,
      6: /^title: unknown field, .*; name: is required$/,
    },
    undetected: [2, 4],
  },
  groups: {
    store: 'groups',
    lines: [{ name: 'One', description: 'First' }, { name: 'one' }, { name: 'Taken' }, { name: 'Two' }],
    rejected: {
      2: /^This workspace already has a group with this name/,
      3: /^This workspace already has a group with this name/,
    },
    undetected: [2, 3],
  },
};

suite('an import', {
  'stores the valid lines, and reports each rejected line with its number and the reason': () =>
    each(importCases, async ({ store = 'campaigns', lines, rejected, undetected }, kind) => {
      const cli = await createWorkspace();
      await cli.app.tags.create(cli.id, { name: 'taken' });
      await cli.app.groups.create(cli.id, { name: 'TAKEN' });
      const count = () => cli.engine[store].count(cli.id, []);
      const before = await count();
      for (const dryRun of [true, false]) {
        const numbers = Object.keys(rejected).map(Number);
        const expected = dryRun ? numbers.filter((number) => !undetected.includes(number)) : numbers;
        const output = await cli.runImport(kind, [toNdjson(lines)], ['--json', ...(dryRun ? ['--dry-run'] : [])]);
        const { rejected: found, importId: _, ...rest } = JSON.parse(output.stdout);
        assertExitCode(output, expected.length > 0 ? 1 : 0);
        assert.equal(output.stderr, '');
        const accepted = lines.length - expected.length;
        assert.deepEqual(rest, { kind, dryRun, accepted, nextLine: lines.length + 1, ended: 'done' });
        assert.deepEqual(
          found.map(({ line }: { line: number }) => line),
          expected,
        );
        for (const { line, reason } of found) assert.match(reason, rejected[line] as RegExp);
        assert.equal(await count(), before + (dryRun ? 0 : accepted));
      }
    }),

  'exits with 0 if every line is valid, and prints how to continue': async () => {
    const cli = await createWorkspace();
    const file = toNdjson(createCampaignBodies(203));
    const dryRun = await cli.runImport('campaigns', [file], ['--dry-run']);
    const message =
      '203 valid as campaigns, 0 rejected (lines 1 to 203). Nothing was stored. Continue with --from-line 204.\n';
    assert.deepEqual(dryRun, { code: 0, stdout: message, stderr: '' });
    const { code, stdout, stderr } = await cli.runImport('campaigns', [file]);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(
      stdout,
      /^203 stored as campaigns, 0 rejected \(lines 1 to 203\)\. To store no line twice, continue with --from-line 204 --import-id [0-9a-f-]{36}\.\n$/,
    );
    assert.deepEqual(await listCampaignNames(cli, cli.id), createNames(203));
  },

  'creates the same record as a POST of the same body, but without a creator': () =>
    withFixture(async ({ call, workspaceId }, { app }) => {
      const body = { ...campaignBody, name: ' Padded ', resources: ['https://example.com/a'], targetShares: '7' };
      const postedId = (await call('POST', '/campaigns', body)).json.id;
      const cli = await createWorkspace();
      await cli.runImport('campaigns', [toNdjson([body])]);
      const [{ id: importedId } = { id: '' }] = await listCampaigns(cli.app, cli.id);
      const imported = await cli.app.campaigns.getBrief(cli.id, importedId);
      const posted = await app.campaigns.getBrief(workspaceId, postedId);
      const ignoredFields = { id: '', campaignId: '', workspaceId: '', createdBy: null, createdAt: '', updatedAt: '' };
      assert.deepEqual({ ...imported, ...ignoredFields }, { ...posted, ...ignoredFields });
      assert.deepEqual([imported?.createdBy, imported?.createdAt], [null, formatTimestamp(NOON)]);
    }),

  'reads each line as the API reads a request body': async () => {
    const cli = await createWorkspace();
    const createTagLine = (name: string) => JSON.stringify({ name });
    const lines = [
      `\ufeff${createTagLine('first')}`,
      '{bad',
      '',
      ' \t\r',
      '[]',
      'null',
      '"text"',
      `\ufeff${createTagLine('bom')}`,
      Buffer.from([0x7b, 0xff, 0x7d]),
      `${createTagLine('crlf')}\r`,
      '{"name":"lost","name":"twice"}',
      createTagLine('x'.repeat(200)),
      `${createTagLine('long')}${' '.repeat(300)}`,
      createTagLine('last'),
    ];
    const file = Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')]).slice(0, -1));
    const { stdout } = await cli.runImport('tags', [file], ['--json'], { bodyLimit: 250 });
    const { rejected, importId: _, ...rest } = JSON.parse(stdout);
    assert.deepEqual(rest, { kind: 'tags', dryRun: false, accepted: 4, nextLine: 15, ended: 'done' });
    assert.deepEqual(rejected, [
      { line: 2, reason: 'The line is not valid JSON.' },
      { line: 5, reason: 'The line must be a JSON object.' },
      { line: 6, reason: 'The line must be a JSON object.' },
      { line: 7, reason: 'The line must be a JSON object.' },
      { line: 8, reason: 'The line must not start with a byte-order mark.' },
      { line: 9, reason: 'The line is not valid UTF-8.' },
      { line: 12, reason: 'name: must have at most 190 characters' },
      { line: 13, reason: 'The line must have at most 250 bytes.' },
    ]);
    const query = { sortBy: 'createdAt', sortOrder: 'asc', page: 1, pageSize: 10 } as const;
    const names = (await cli.app.tags.list(cli.id, query)).items.map(({ name }) => name);
    assert.deepEqual(names, ['first', 'crlf', 'twice', 'last']);
    const deepLine = `{"name":${'['.repeat(1_000)}${']'.repeat(1_000)}}`;
    const longLine = `{${'"name":"x",'.repeat(1_000)}"name":"x"}`;
    const result = JSON.parse((await cli.runImport('tags', [`${deepLine}\n${longLine}`], ['--json'])).stdout);
    assert.deepEqual(result.rejected, [
      { line: 1, reason: 'name: must be a string' },
      { line: 2, reason: 'name: too many elements, the body must have at most 1000 field names, objects and arrays' },
    ]);
  },

  'starts at the line number that --from-line specifies': async () => {
    const cli = await createWorkspace();
    const file = toNdjson(createCampaignBodies(20));
    const importFrom = async (line: number) => {
      const { stdout } = await cli.runImport('campaigns', [file], ['--json', '--from-line', String(line)]);
      const { accepted, nextLine, rejected } = JSON.parse(stdout);
      return [accepted, nextLine, rejected];
    };
    assert.deepEqual(await importFrom(18), [3, 21, []]);
    assert.deepEqual(await listCampaignNames(cli, cli.id), ['18', '19', '20']);
    assert.deepEqual(await importFrom(21), [0, 21, []]);
    assert.deepEqual(await importFrom(99), [0, 99, []]);
    assert.match(
      (await cli.runImport('campaigns', [])).stdout,
      /^0 stored as campaigns, 0 rejected \(no lines from line 1 on\)\. To store no line twice, continue with --from-line 1 --import-id /,
    );
  },

  'reads a file by its path, and names a file that it cannot read': () =>
    withTemporaryFolder(async (folder) => {
      const cli = await createWorkspace();
      const file = join(folder, 'campaigns.ndjson');
      writeFileSync(file, toNdjson(createCampaignBodies(3)));
      const createArgs = (path: string) => ['import', '--workspace', cli.id, 'campaigns', path];
      assertExitCode(await cli.run(createArgs(file)), 0);
      assert.deepEqual(await listCampaignNames(cli, cli.id), createNames(3));
      const stderr = `error: Cannot read ${file}.not: no such file or folder.\n`;
      assert.deepEqual(await cli.run(createArgs(`${file}.not`)), { code: 2, stdout: '', stderr });
      const directory = await cli.run(createArgs(folder));
      assertExitCode(directory, 2);
      assert.match(directory.stderr, /^error: the rest of the file cannot be read: EISDIR/);
    }),

  'shows its progress on a terminal, and clears the progress before each line of output': async () => {
    const cli = await createWorkspace();
    const written: [stream: string, text: string][] = [];
    const createStream = (stream: string) => ({
      write(text: string, done?: () => void): boolean {
        if (text) written.push([stream, text]);
        done?.();
        return true;
      },
    });
    const terminal = { stdout: createStream('out'), stderr: { ...createStream('err'), isTTY: true, columns: 80 } };
    const lines = [...createCampaignBodies(50), { name: 'bad' }, ...createCampaignBodies(60)];
    await cli.runImport('campaigns', [toNdjson(lines)], [], terminal as never);
    assert.match(written[0]?.[1] ?? '', /K1 lines, \d+ a second$/);
    const outputs = [...written.entries()].filter(([, [stream]]) => stream === 'out');
    assert.equal(outputs.length, 2);
    for (const [i] of outputs) {
      const lastDrawn = written.slice(0, i).findLast(([stream]) => stream === 'err');
      assert.deepEqual(lastDrawn, ['err', '\r\x1b[K']);
    }
  },
});

const LINE_COUNT = 200;
const INVALID_LINE = 60;
const FAILING_LINE = 100;

/** Makes one transaction fail, before or after its changes are stored. */
function failOnce({ engine }: TestCommandLine, isStored: boolean): void {
  const runInTransaction = engine.runInTransaction.bind(engine);
  let count = 0;
  engine.runInTransaction = async (work) => {
    // The invalid line needs no transaction.
    const isFailing = ++count === FAILING_LINE - 1;
    const result = isFailing && !isStored ? undefined : await runInTransaction(work);
    if (isFailing) throw new Error('The database is unavailable');
    return result as never;
  };
}

suite('an import that ends early', {
  'completes the lines in flight when it is interrupted, and prints how to continue': async () => {
    const cli = await createWorkspace();
    const stdin = new PassThrough();
    const file = toNdjson(createCampaignBodies(LINE_COUNT));
    stdin.write(file);
    const runInTransaction = cli.engine.runInTransaction.bind(cli.engine);
    let stop = doNothing;
    let count = 0;
    cli.engine.runInTransaction = (work) => {
      if (++count === FAILING_LINE) stop();
      return runInTransaction(work);
    };
    const output = await cli.runImport('campaigns', stdin, [], { onInterrupt: (onStop) => (stop = onStop) });
    assertExitCode(output, 130);
    const pattern =
      /^Stopped: (\d+) stored as campaigns, 0 rejected \(lines 1 to \1\)\. To store no line twice, continue with --from-line (\d+) --import-id (\S+)\.\n$/;
    const [, stored, line = '', importId = ''] = pattern.exec(output.stdout) ?? [];
    assert.equal(Number(line), Number(stored) + 1);
    assert.ok(Number(stored) >= FAILING_LINE && Number(stored) < LINE_COUNT, output.stdout);
    assert.deepEqual(await listCampaignNames(cli, cli.id), createNames(Number(stored)));
    assertExitCode(await cli.runImport('campaigns', [file], ['--from-line', line, '--import-id', importId]), 0);
    assert.deepEqual(await listCampaignNames(cli, cli.id), createNames(LINE_COUNT));
  },

  'prints the first line that may be missing after a storage failure, and stores no line twice when it is continued':
    () =>
      each({ 'stores nothing': false, 'stores the line': true }, async (isStored) => {
        const cli = await createWorkspace();
        const lines = createCampaignBodies(LINE_COUNT).with(INVALID_LINE - 1, {} as never);
        failOnce(cli, isStored);
        const output = await cli.runImport('campaigns', [toNdjson(lines)], ['--json']);
        assert.deepEqual([output.code, output.stderr], [2, 'error: The database is unavailable\n']);
        const { rejected, importId, ...rest } = JSON.parse(output.stdout);
        const [accepted, nextLine] = [FAILING_LINE - 2, FAILING_LINE];
        assert.deepEqual(rest, { kind: 'campaigns', dryRun: false, accepted, nextLine, ended: 'failed' });
        for (const [fromLine, remaining] of [
          [nextLine, LINE_COUNT - FAILING_LINE + 1],
          [1, LINE_COUNT - 1],
        ] as const) {
          const args = ['--json', '--from-line', String(fromLine), '--import-id', importId.toUpperCase()];
          const resumed = JSON.parse((await cli.runImport('campaigns', [toNdjson(lines)], args)).stdout);
          assert.deepEqual([resumed.ended, resumed.accepted], ['done', remaining]);
          assert.deepEqual(resumed.rejected, fromLine === 1 ? rejected : []);
        }
        assert.deepEqual(await listCampaignNames(cli, cli.id), createNames(LINE_COUNT).toSpliced(INVALID_LINE - 1, 1));
      }),

  'waits for the lines that a killed import has locked': async () => {
    const cli = await createWorkspace();
    const importId = randomUUID();
    const lock = { workspaceId: cli.id, fingerprint: '', lockOwner: 'killed', response: null };
    const expiresAt = cli.clock.now + LOCK_TTL_MS;
    await cli.storage.idempotencyRecords.add({ ...lock, id: `${importId}/${cli.id}/2`, expiresAt });
    const importing = cli.runImport('campaigns', [toNdjson(createCampaignBodies(3))], ['--import-id', importId]);
    await waitUntil(async () => (await listCampaignNames(cli, cli.id)).length === 2);
    cli.clock.now = expiresAt;
    assertExitCode(await importing, 0);
    assert.deepEqual(await listCampaignNames(cli, cli.id), createNames(3));
  },

  'prints how to continue on standard error if standard output cannot be written': async () => {
    for (const [error, code] of [
      ['ENOSPC', 2],
      ['EPIPE', 130],
    ] as const) {
      for (const json of [[], ['--json']]) {
        const cli = await createWorkspace();
        const stdout = new Writable({ write: (_, __, done) => done(Object.assign(new Error(error), { code: error })) });
        const lines = toNdjson([{}, ...createCampaignBodies(LINE_COUNT)]);
        const output = await cli.runImport('campaigns', [lines], json, { stdout });
        assertExitCode(output, code);
        const pattern =
          /^Stopped: (\d+) stored as campaigns, (\d+) rejected .*, continue with --from-line (\d+) --import-id \S+\.\n/;
        const [, stored, rejected, next] = (pattern.exec(output.stderr) ?? []).map(Number);
        assert.equal(stored, (await listCampaignNames(cli, cli.id)).length);
        assert.equal(next, Number(stored) + Number(rejected) + 1, output.stderr);
      }
    }
  },

  'stores a line once under one import ID in a workspace, and rejects other content': async () => {
    const cli = await createWorkspace();
    const args = ['--import-id', '0190163D-8694-439b-aea5-966c26f8ad91', '--json'];
    const importLines = async (kind: string, ...lines: readonly object[]) =>
      JSON.parse((await cli.runImport(kind, [toNdjson(lines)], args)).stdout);
    const [one, two] = [
      { ...campaignBody, name: '1' },
      { ...campaignBody, name: '2' },
    ];
    await importLines('campaigns', one);
    assert.equal((await importLines('campaigns', one, two)).accepted, 2);
    assert.deepEqual(await listCampaignNames(cli, cli.id), ['1', '2']);
    const reason = 'This import ID has already stored another content of this line. Import the line with a new ID.';
    assert.deepEqual((await importLines('campaigns', two)).rejected, [{ line: 1, reason }]);
    assert.deepEqual((await importLines('tags', { name: 'One' })).rejected, [{ line: 1, reason }]);
    const other = await cli.app.workspaces.create('Other');
    await cli.run(['import', '--workspace', other.id, 'campaigns', '-', ...args], { stdin: [toNdjson([one])] });
    assert.deepEqual(await listCampaignNames(cli, other.id), ['1']);
  },

  'reports immediately that the storage failed, without waiting for more lines': async () => {
    const cli = await createWorkspace();
    cli.engine.runInTransaction = () => Promise.reject(new Error('The database is unavailable'));
    async function* stdin() {
      yield Buffer.from(toNdjson(createCampaignBodies(7)));
      await new Promise(() => undefined);
    }
    const output = await cli.runImport('campaigns', stdin(), ['--json']);
    assertExitCode(output, 2);
    assert.match(output.stderr, /^error: The database is unavailable/);
  },

  'prints how to continue if the rest of the file cannot be read': async () => {
    const cli = await createWorkspace();
    async function* stdin() {
      yield Buffer.from(toNdjson(createCampaignBodies(70)));
      throw new Error('the disk failed');
    }
    const output = await cli.runImport('campaigns', stdin(), ['--json']);
    assertExitCode(output, 2);
    assert.equal(output.stderr, 'error: the rest of the file cannot be read: the disk failed\n');
    const { nextLine, ended } = JSON.parse(output.stdout);
    assert.deepEqual([nextLine, ended], [71, 'failed']);
    assert.deepEqual(await listCampaignNames(cli, cli.id), createNames(70));
  },
});
