import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { deriveLineId } from '../../adapters/cli/line-id.ts';
import type { RecordStore } from '../../adapters/persistence/record-store.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import type { Entity } from '../../core/shared/entity.ts';
import { collectAll } from '../support/collect-all.ts';
import {
  assertExitCode,
  type CommandOutput,
  createCommandLine,
  type RunOptions,
  type TestCommandLine,
} from '../support/command-line.ts';
import { NOON } from '../support/core.ts';
import { each } from '../support/each.ts';
import { withFixture } from '../support/fixture.ts';
import { campaignBody } from '../support/samples.ts';
import { suite } from '../support/suite.ts';
import { withTemporaryFolder } from '../support/temporary-folder.ts';

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

async function listCampaignNames({ app }: TestCommandLine, id: string): Promise<string[]> {
  return (await collectAll(app.campaigns.iterate(id))).map(({ name }) => name);
}

const createCampaignBodies = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ ...campaignBody, name: `${i + 1}` }));
const createNames = (count: number) => Array.from({ length: count }, (_, i) => `${i + 1}`);
const QUESTION = { question: 'What did you learn this week?', icon: 'sun' };

/** For each kind: lines, and the reasons for the rejected lines by line number. */
const importCases: Readonly<Record<string, { lines: readonly unknown[]; rejected: Readonly<Record<number, RegExp>> }>> =
  {
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
    },
    questions: {
      lines: [QUESTION, { question: 'Short?' }, { ...QUESTION, groups: ['x'] }, QUESTION],
      rejected: { 2: /^question: must have at least 10 characters$/, 3: /^groups\.0: must be a UUID$/ },
    },
    tags: {
      lines: [{ name: 'One' }, { name: 'ONE' }, { name: 'a,b' }, { name: 'Taken' }, { name: ' Two ' }, { title: 'x' }],
      rejected: {
        2: /^This workspace already has a tag with this name/,
        3: /^name: must not contain a comma$/,
        4: /^This workspace already has a tag with this name/,
        6: /^title: unknown field, allowed fields: name; name: is required$/,
      },
    },
    groups: {
      lines: [{ name: 'One', description: 'First' }, { name: 'one' }, { name: 'Taken' }, { name: 'Two' }],
      rejected: {
        2: /^This workspace already has a group with this name/,
        3: /^This workspace already has a group with this name/,
      },
    },
  };

const countRecords = async ({ app }: TestCommandLine, id: string) => ({
  campaigns: (await collectAll(app.campaigns.iterate(id))).length,
  questions: (
    await app.inspirationQuestions.list(
      { workspaceId: id },
      { includeArchived: true, availableToMe: false, page: 1, pageSize: 99 },
    )
  ).items.length,
  tags: (await collectAll(app.tags.iterate(id))).length,
  groups: (await collectAll(app.groups.iterate(id))).length,
});

suite('an import', {
  'stores the valid lines, and reports each rejected line with its number and the reason': () =>
    each(importCases, async ({ lines, rejected }, kind) => {
      const cli = await createWorkspace();
      await cli.app.tags.create(cli.id, 'taken');
      await cli.app.groups.create(cli.id, { name: 'TAKEN' });
      const before = await countRecords(cli, cli.id);
      const numbers = Object.keys(rejected).map(Number);
      const acceptedCount = lines.length - numbers.length;
      const summary = { kind, accepted: acceptedCount, nextLine: lines.length + 1, ended: 'done', uncertain: null };

      const dryRun = await cli.runImport(kind, [toNdjson(lines)], ['--json', '--dry-run']);
      assert.deepEqual([dryRun.code, dryRun.stderr], [1, '']);
      const { refused, importId: _, ...rest } = JSON.parse(dryRun.stdout);
      assert.deepEqual(rest, { ...summary, dryRun: true });
      assert.deepEqual(
        refused.map(({ line }: { line: number }) => line),
        numbers,
      );
      for (const { line, reason } of refused) assert.match(reason, rejected[line] as RegExp);
      assert.deepEqual(await countRecords(cli, cli.id), before, 'a dry run stores nothing');

      const real = await cli.runImport(kind, [toNdjson(lines)], ['--json']);
      const { importId: __, ...stored } = JSON.parse(real.stdout);
      assert.deepEqual(stored, { ...rest, refused, dryRun: false });
      assertExitCode(real, 1);
      assert.deepEqual(await countRecords(cli, cli.id), { ...before, [kind]: before[kind as 'tags'] + acceptedCount });
    }),

  'exits with 0 if every line is valid, and stores the lines in their order': async () => {
    const cli = await createWorkspace();
    const { code, stdout, stderr } = await cli.runImport('campaigns', [toNdjson(createCampaignBodies(1203))]);
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(
      stdout,
      '1203 stored as campaigns, 0 rejected (lines 1 to 1203). To import lines that are added later, continue with --from-line 1204.\n',
    );
    assert.deepEqual(await listCampaignNames(cli, cli.id), createNames(1203));
  },

  'creates the same record as a POST of the same body, but without a creator': () =>
    withFixture(async ({ call, workspaceId }, { app }) => {
      const body = { ...campaignBody, name: ' Padded ', resources: ['https://example.com/a'], targetShares: '7' };
      const postedId = (await call('POST', '/campaigns', body)).json.id;
      const cli = await createWorkspace();
      await cli.runImport('campaigns', [toNdjson([body])]);
      const [imported] = await collectAll(cli.app.campaigns.iterate(cli.id));
      const posted = (await collectAll(app.campaigns.iterate(workspaceId))).find(({ id }) => id === postedId);
      const ignoredFields = { id: '', workspaceId: '', createdBy: null, createdAt: '', updatedAt: '' };
      assert.deepEqual({ ...imported, ...ignoredFields }, { ...posted, ...ignoredFields });
      assert.deepEqual([imported?.createdBy, imported?.createdAt], [null, formatTimestamp(NOON)]);
    }),

  'reads each line as the API reads a request body': async () => {
    const cli = await createWorkspace();
    const createTagLine = (name: string) => JSON.stringify({ name });
    const lines = [
      createTagLine('first'),
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
    const { refused, importId: _, ...rest } = JSON.parse(stdout);
    assert.deepEqual(rest, { kind: 'tags', dryRun: false, accepted: 4, nextLine: 15, ended: 'done', uncertain: null });
    assert.deepEqual(refused, [
      { line: 2, reason: 'The line is not valid JSON.' },
      { line: 5, reason: 'The line must be a JSON object.' },
      { line: 6, reason: 'The line must be a JSON object.' },
      { line: 7, reason: 'The line must be a JSON object.' },
      { line: 8, reason: 'The line is not valid JSON.' },
      { line: 9, reason: 'The line is not valid UTF-8.' },
      { line: 12, reason: 'name: must have at most 190 characters' },
      { line: 13, reason: 'The line must have at most 250 bytes.' },
    ]);
    const names = (await collectAll(cli.app.tags.iterate(cli.id))).map(({ name }) => name);
    assert.deepEqual(names, ['first', 'crlf', 'twice', 'last']);
    const deepLine = `{"name":${'['.repeat(1_000)}${']'.repeat(1_000)}}`;
    const longLine = `{${'"name":"x",'.repeat(1_000)}"name":"x"}`;
    const result = JSON.parse((await cli.runImport('tags', [`${deepLine}\n${longLine}`], ['--json'])).stdout);
    assert.deepEqual(result.refused, [
      { line: 1, reason: 'name: must be a string' },
      { line: 2, reason: 'name: too many elements, the body must have at most 1000 field names, objects and arrays' },
    ]);
  },

  'starts at the line number that --from-line specifies': async () => {
    const cli = await createWorkspace();
    const file = toNdjson(createCampaignBodies(20));
    const importFrom = async (line: number) => {
      const { stdout } = await cli.runImport('campaigns', [file], ['--json', '--from-line', String(line)]);
      const { accepted, nextLine, refused } = JSON.parse(stdout);
      return [accepted, nextLine, refused];
    };
    assert.deepEqual(await importFrom(18), [3, 21, []]);
    assert.deepEqual(await listCampaignNames(cli, cli.id), ['18', '19', '20']);
    assert.deepEqual(await importFrom(21), [0, 21, []]);
    assert.deepEqual(await importFrom(99), [0, 99, []]);
    assert.deepEqual(
      (await cli.runImport('campaigns', [])).stdout,
      [
        '0 stored as campaigns, 0 rejected (no lines from line 1 on).',
        'To import lines that are added later, continue with --from-line 1.\n',
      ].join(' '),
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
      const reasons = { [folder]: 'it is a directory', [`${file}.not`]: 'the file does not exist' };
      for (const [path, reason] of Object.entries(reasons)) {
        const stderr = `error: Cannot read ${path}: ${reason}.\n`;
        assert.deepEqual(await cli.run(createArgs(path)), { code: 2, stdout: '', stderr });
      }
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
    const lines = [...createCampaignBodies(500), { name: 'bad' }, ...createCampaignBodies(600)];
    await cli.runImport('campaigns', [toNdjson(lines)], [], terminal as never);
    assert.match(written[0]?.[1] ?? '', /K500 lines, \d+ a second$/);
    const outputs = [...written.entries()].filter(([, [stream]]) => stream === 'out');
    assert.equal(outputs.length, 2);
    for (const [i] of outputs) {
      const lastDrawn = written.slice(0, i).findLast(([stream]) => stream === 'err');
      assert.deepEqual(lastDrawn, ['err', '\r\x1b[K']);
    }
  },
});

/** Checks that exactly the lines before `nextLine` are stored. Resolves to `nextLine` and to how the import ended. */
async function checkCampaigns(cli: Awaited<ReturnType<typeof createWorkspace>>, { stdout }: CommandOutput) {
  const { nextLine, ended, accepted } = JSON.parse(stdout);
  assert.deepEqual(await listCampaignNames(cli, cli.id), createNames(accepted));
  assert.equal(nextLine, accepted + 1);
  return { nextLine, ended };
}

const INVALID_LINE = 600;

/** For each kind: the store of its records, a function that creates a body, and a function that returns the distinct text of a record. */
const resumableKinds = {
  campaigns: { store: 'campaigns', createBody: (i: number) => ({ ...campaignBody, name: `${i}` }), getText: getName },
  questions: {
    store: 'inspirationQuestions',
    createBody: (i: number) => ({ question: `What is number ${i}?` }),
    getText: ({ question }: { question: string }) => question,
  },
  tags: { store: 'tags', createBody: (i: number) => ({ name: `${i}` }), getText: getName },
  groups: { store: 'groups', createBody: (i: number) => ({ name: `${i}` }), getText: getName },
} as const;

function getName({ name }: { readonly name: string }): string {
  return name;
}

/** The part of the failed batch that is stored, and whether the import is interrupted while the batch is being stored. */
const outages = {
  'stores nothing': { storedPart: 'none', isInterrupted: false },
  'stores a half': { storedPart: 'half', isInterrupted: false },
  'stores all': { storedPart: 'all', isInterrupted: false },
  'stores a half, interrupted': { storedPart: 'half', isInterrupted: true },
} as const;

/** Makes the storage fail in the second batch, after it has stored a part of the batch. */
function failSecondBatch(
  { engine }: TestCommandLine,
  store: (typeof resumableKinds)[keyof typeof resumableKinds]['store'],
  storedPart: 'none' | 'half' | 'all',
  interrupt: () => void = () => undefined,
): void {
  const recordStore = engine[store] as unknown as RecordStore<Entity>;
  const addMany = recordStore.addMany.bind(recordStore);
  let batches = 0;
  recordStore.addMany = async (records) => {
    if (++batches !== 2) return addMany(records);
    interrupt();
    await addMany(records.slice(0, { none: 0, half: records.length / 2, all: records.length }[storedPart]));
    throw new Error('The database is unavailable');
  };
}

suite('an import that ends early', {
  'stores whole batches when it is interrupted, and prints the line to continue from': async () => {
    const cli = await createWorkspace();
    const stdin = new PassThrough();
    stdin.write(toNdjson(createCampaignBodies(1200)));
    const onInterrupt = async (stop: () => void) => {
      while ((await listCampaignNames(cli, cli.id)).length < 1000) await nextTurn();
      stop();
    };
    const output = await cli.runImport('campaigns', stdin, ['--json'], { onInterrupt });
    assertExitCode(output, 130);
    const { nextLine, ended } = await checkCampaigns(cli, output);
    assert.deepEqual([nextLine, ended], [1001, 'stopped']);
    const secondOutput = await cli.runImport(
      'campaigns',
      [toNdjson(createCampaignBodies(1200))],
      ['--from-line', String(nextLine)],
    );
    assertExitCode(secondOutput, 0);
    assert.deepEqual(await listCampaignNames(cli, cli.id), createNames(1200));
  },

  'finishes the batch in flight when it is interrupted': async () => {
    const cli = await createWorkspace();
    const { campaigns: recordStore } = cli.engine;
    const addMany = recordStore.addMany.bind(recordStore);
    let interrupt = () => {};
    recordStore.addMany = (records) => {
      interrupt();
      return addMany(records);
    };
    const options = { onInterrupt: (stop: () => void) => (interrupt = stop) };
    const output = await cli.runImport('campaigns', [toNdjson(createCampaignBodies(1200))], ['--json'], options);
    assertExitCode(output, 130);
    assert.deepEqual(await checkCampaigns(cli, output), { nextLine: 501, ended: 'stopped' });
    const sentence = (await cli.runImport('campaigns', [toNdjson(createCampaignBodies(600))], [], options)).stdout;
    assert.match(
      sentence,
      /^Stopped: 500 stored as campaigns, 0 rejected \(lines 1 to 500\)\. Continue with --from-line 501\.\n$/,
    );
  },

  'names the lines that may be stored after a storage failure, and stores no line twice when it is continued': () =>
    each(resumableKinds, ({ store, createBody, getText }, kind) =>
      each(outages, async ({ storedPart, isInterrupted }) => {
        const cli = await createWorkspace();
        const file = toNdjson(
          Array.from({ length: 1200 }, (_, i) => (i + 1 === INVALID_LINE ? {} : createBody(i + 1))),
        );
        const interruption: { stop?: () => void } = {};
        failSecondBatch(cli, store, storedPart, () => isInterrupted && interruption.stop?.());
        const options = { onInterrupt: (stop: () => void) => Object.assign(interruption, { stop }) };
        const output = await cli.runImport(kind, [file], ['--json'], options);
        const { refused, importId, ...rest } = JSON.parse(output.stdout);
        const [ended, code, stderr] = isInterrupted
          ? ['stopped', 130, '']
          : ['failed', 2, 'error: The database is unavailable\n'];
        assert.deepEqual([output.code, output.stderr, refused], [code, stderr, []]);
        const uncertain = { firstLine: 501, lastLine: 1000 };
        assert.deepEqual(rest, { kind, dryRun: false, accepted: 500, nextLine: 501, ended, uncertain });

        const args = ['--json', '--from-line', '501', '--import-id', importId];
        const resumed = JSON.parse((await cli.runImport(kind, [file], args)).stdout);
        assert.deepEqual([resumed.ended, resumed.accepted, resumed.uncertain], ['done', 699, null]);
        assert.deepEqual(
          resumed.refused.map(({ line }: { line: number }) => line),
          [INVALID_LINE],
        );
        const storedTexts = (await cli.engine[store].listById(cli.id, '', 5000)).map((record) =>
          getText(record as never),
        );
        const expected = Array.from({ length: 1200 }, (_, i) => i + 1).filter((line) => line !== INVALID_LINE);
        assert.deepEqual(
          storedTexts,
          expected.map((line) => getText(createBody(line) as never)),
        );
      }),
    ),

  'prints a sentence about the lines that may be stored, unless --json is given': async () => {
    const cli = await createWorkspace();
    failSecondBatch(cli, 'campaigns', 'none');
    const { stdout } = await cli.runImport('campaigns', [toNdjson([{}, ...createCampaignBodies(1200)])]);
    const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}';
    const sentences = [
      '\n499 stored as campaigns, 1 rejected \\(lines 1 to 500\\)\\. Lines 501 to 1000 may have been stored\\.',
      `To store no line twice, continue with --from-line 501 --import-id ${uuid}\\.\n$`,
    ];
    assert.match(stdout, new RegExp(sentences.join(' ')));
  },

  'prints the line to continue from on standard error if standard output cannot be written': async () => {
    for (const [error, code] of [
      ['ENOSPC', 2],
      ['EPIPE', 130],
    ] as const) {
      for (const json of [[], ['--json']]) {
        const cli = await createWorkspace();
        const stdout = new Writable({ write: (_, __, done) => done(Object.assign(new Error(error), { code: error })) });
        const lines = toNdjson([{}, ...createCampaignBodies(1200)]);
        const output = await cli.runImport('campaigns', [lines], json, { stdout });
        assertExitCode(output, code);
        const pattern = /^Stopped: (\d+) stored as campaigns, (\d+) rejected .*\. Continue with --from-line (\d+)\.\n/;
        const [, stored, rejected, next] = (pattern.exec(output.stderr) ?? []).map(Number);
        assert.equal(stored, (await listCampaignNames(cli, cli.id)).length);
        assert.equal(next, Number(stored) + Number(rejected) + 1, output.stderr);
      }
    }
  },

  'stores a line once under one import ID, and again if its content, its number or the workspace differs': async () => {
    const cli = await createWorkspace();
    const importId = '0190163d-8694-739b-aea5-966c26f8ad91';
    const importAndCount = async (body: unknown, args: readonly string[] = []) => {
      await cli.runImport('campaigns', [toNdjson([body])], ['--import-id', importId, ...args]);
      return (await listCampaignNames(cli, cli.id)).length;
    };
    assert.equal(await importAndCount({ ...campaignBody, name: 'One' }), 1);
    assert.equal(await importAndCount({ ...campaignBody, name: 'One' }), 1);
    assert.equal(await importAndCount({ ...campaignBody, name: 'Two' }), 2);
    await cli.runImport('campaigns', [`\n${toNdjson([{ ...campaignBody, name: 'One' }])}`], ['--import-id', importId]);
    assert.equal((await listCampaignNames(cli, cli.id)).length, 3);
    const other = await cli.app.workspaces.create('Other');
    const args = ['import', '--workspace', other.id, 'campaigns', '-', '--import-id', importId];
    await cli.run(args, { stdin: [toNdjson([{ ...campaignBody, name: 'One' }])] });
    assert.deepEqual(await listCampaignNames(cli, other.id), ['One']);
  },

  'derives the same record IDs from the same lines in each version, so that an import can be continued after an update':
    () => {
      const identity = { importId: '0190163d-8694-739b-aea5-966c26f8ad91', workspaceId: 'w', kind: 'tags' };
      assert.equal(deriveLineId(identity, 1_000_000, Buffer.from('{}')), '0190163d-8694-7000-bd09-02bdef3dae10');
    },

  'reports immediately that the storage failed, without waiting for more lines': async () => {
    const cli = await createWorkspace();
    cli.engine.campaigns.addMany = () => Promise.reject(new Error('The database is unavailable'));
    async function* stdin() {
      yield Buffer.from(toNdjson(createCampaignBodies(700)));
      await new Promise(() => undefined);
    }
    const output = await cli.runImport('campaigns', stdin(), ['--json']);
    assertExitCode(output, 2);
    assert.match(output.stderr, /^error: The database is unavailable/);
  },

  'prints the line to continue from if the rest of the file cannot be read': async () => {
    const cli = await createWorkspace();
    async function* stdin() {
      yield Buffer.from(toNdjson(createCampaignBodies(700)));
      throw new Error('the disk failed');
    }
    const output = await cli.runImport('campaigns', stdin(), ['--json']);
    assertExitCode(output, 2);
    assert.equal(output.stderr, 'error: the rest of the file cannot be read: the disk failed\n');
    assert.deepEqual(await checkCampaigns(cli, output), { nextLine: 501, ended: 'failed' });
  },
});
