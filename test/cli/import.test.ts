import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { timestamp } from '../../core/shared/date.ts';
import type { Entity, RecordStore } from '../../core/shared/record-store.ts';
import { collected } from '../support/collected.ts';
import { type CommandLine, commandLine, type Given, type Ran } from '../support/command-line.ts';
import { NOON } from '../support/core.ts';
import { each } from '../support/each.ts';
import { inWorld } from '../support/fixture.ts';
import { campaignBody } from '../support/samples.ts';
import { suite } from '../support/suite.ts';

const NDJSON = (bodies: readonly unknown[]) => bodies.map((body) => `${JSON.stringify(body)}\n`).join('');

/** A workspace and what imports into it. */
async function workspace() {
  const line = commandLine();
  const { id } = await line.app.workspaces.create('Northwind');
  const importing = (kind: string, stdin: Given['stdin'], words: readonly string[] = [], given: Given = {}) =>
    line.run(['import', '--workspace', id, kind, '-', ...words], { ...given, stdin: stdin as never });
  return { ...line, id, importing };
}

async function namesIn({ app }: CommandLine, id: string): Promise<string[]> {
  return (await collected(app.campaigns.iterate(id))).map(({ name }) => name);
}

const campaigns = (count: number) => Array.from({ length: count }, (_, i) => ({ ...campaignBody, name: `${i + 1}` }));
const namesUpTo = (count: number) => Array.from({ length: count }, (_, i) => `${i + 1}`);
const QUESTION = { question: 'What did you learn this week?', icon: 'sun' };

/** What each kind can be imported from, and what is refused of it. */
const kinds: Readonly<Record<string, { lines: readonly unknown[]; refused: Readonly<Record<number, RegExp>> }>> = {
  campaigns: {
    lines: [
      campaignBody,
      { ...campaignBody, tagIds: ['0190163d-8694-739b-aea5-966c26f8ad91'] },
      { ...campaignBody, colour: 1, name: '' },
      { ...campaignBody, startDate: '2026-07-01', endDate: '2026-06-01' },
      { ...campaignBody, totalBudget: '1.23456' },
      campaignBody,
    ],
    refused: {
      2: /^tagIds\.0: is no tag of the workspace$/,
      3: /^colour: unknown field, .*; name: must not be blank$/,
      4: /^endDate: must not be before startDate$/,
      5: /^totalBudget: must be a non-negative amount/,
    },
  },
  questions: {
    lines: [QUESTION, { question: 'Short?' }, { ...QUESTION, groups: ['x'] }, QUESTION],
    refused: { 2: /^question: must have at least 10 characters$/, 3: /^groups\.0: must be a UUID$/ },
  },
  tags: {
    lines: [{ name: 'One' }, { name: 'ONE' }, { name: 'a,b' }, { name: 'Taken' }, { name: ' Two ' }, { title: 'x' }],
    refused: {
      2: /^The workspace has a tag of this name/,
      3: /^name: must not contain a comma$/,
      4: /^The workspace has a tag of this name/,
      6: /^title: unknown field, allowed fields: name; name: is required$/,
    },
  },
  groups: {
    lines: [{ name: 'One', description: 'First' }, { name: 'one' }, { name: 'Taken' }, { name: 'Two' }],
    refused: { 2: /^The workspace has a group of this name/, 3: /^The workspace has a group of this name/ },
  },
};

const everythingIn = async ({ app }: CommandLine, id: string) => ({
  campaigns: (await collected(app.campaigns.iterate(id))).length,
  questions: (
    await app.inspirationQuestions.list(
      { workspaceId: id },
      { includeArchived: true, availableToMe: false, page: 1, pageSize: 99 },
    )
  ).items.length,
  tags: (await collected(app.tags.iterate(id))).length,
  groups: (await collected(app.groups.iterate(id))).length,
});

suite('an import', {
  'keeps the good lines, and tells every other by its number and the reason': () =>
    each(kinds, async ({ lines, refused }, kind) => {
      const here = await workspace();
      await here.app.tags.create(here.id, 'taken');
      await here.app.groups.create(here.id, { name: 'TAKEN' });
      const before = await everythingIn(here, here.id);
      const numbers = Object.keys(refused).map(Number);
      const good = lines.length - numbers.length;
      const end = { kind, accepted: good, nextLine: lines.length + 1, ended: 'done', uncertain: null };

      const dry = await here.importing(kind, [NDJSON(lines)], ['--json', '--dry-run']);
      assert.deepEqual([dry.code, dry.stderr], [1, '']);
      const { refused: told, importId: _, ...rest } = JSON.parse(dry.stdout);
      assert.deepEqual(rest, { ...end, dryRun: true });
      assert.deepEqual(
        told.map(({ line }: { line: number }) => line),
        numbers,
      );
      for (const { line, reason } of told) assert.match(reason, refused[line] as RegExp);
      assert.deepEqual(await everythingIn(here, here.id), before, 'a dry run keeps nothing');

      const real = await here.importing(kind, [NDJSON(lines)], ['--json']);
      const { importId: __, ...stored } = JSON.parse(real.stdout);
      assert.deepEqual(stored, { ...rest, refused: told, dryRun: false });
      assert.equal(real.code, 1);
      assert.deepEqual(await everythingIn(here, here.id), { ...before, [kind]: before[kind as 'tags'] + good });
    }),

  'ends with 0 where every line is good, and keeps them in their order': async () => {
    const here = await workspace();
    const { code, stdout, stderr } = await here.importing('campaigns', [NDJSON(campaigns(1203))]);
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(
      stdout,
      '1203 stored as campaigns, 0 refused (lines 1 to 1203). When the file has grown, go on with --from-line 1204.\n',
    );
    assert.deepEqual(await namesIn(here, here.id), namesUpTo(1203));
  },

  'makes what the POST makes of the same body, without a creator': () =>
    inWorld(async ({ call, workspaceId }, { app }) => {
      const body = { ...campaignBody, name: ' Padded ', resources: ['https://example.com/a'], targetShares: '7' };
      const posted = (await call('POST', '/campaigns', body)).json.id;
      const here = await workspace();
      await here.importing('campaigns', [NDJSON([body])]);
      const [mine] = await collected(here.app.campaigns.iterate(here.id));
      const theirs = (await collected(app.campaigns.iterate(workspaceId))).find(({ id }) => id === posted);
      const own = { id: '', workspaceId: '', createdBy: null, createdAt: '', updatedAt: '' };
      assert.deepEqual({ ...mine, ...own }, { ...theirs, ...own });
      assert.deepEqual([mine?.createdBy, mine?.createdAt], [null, timestamp(NOON)]);
    }),

  'reads lines as the API reads bodies': async () => {
    const here = await workspace();
    const tag = (name: string) => JSON.stringify({ name });
    const lines = [
      tag('first'),
      '{bad',
      '',
      ' \t\r',
      '[]',
      'null',
      '"text"',
      `\ufeff${tag('bom')}`,
      Buffer.from([0x7b, 0xff, 0x7d]),
      `${tag('crlf')}\r`,
      '{"name":"lost","name":"twice"}',
      tag('x'.repeat(200)),
      `${tag('long')}${' '.repeat(300)}`,
      tag('last'),
    ];
    const file = Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')]).slice(0, -1));
    const { stdout } = await here.importing('tags', [file], ['--json'], { bodyLimit: 250 });
    const { refused, importId: _, ...end } = JSON.parse(stdout);
    assert.deepEqual(end, { kind: 'tags', dryRun: false, accepted: 4, nextLine: 15, ended: 'done', uncertain: null });
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
    const names = (await collected(here.app.tags.iterate(here.id))).map(({ name }) => name);
    assert.deepEqual(names, ['first', 'crlf', 'twice', 'last']);
    const deep = `{"name":${'['.repeat(1_000)}${']'.repeat(1_000)}}`;
    const many = `{${'"name":"x",'.repeat(1_000)}"name":"x"}`;
    const large = JSON.parse((await here.importing('tags', [`${deep}\n${many}`], ['--json'])).stdout);
    assert.deepEqual(large.refused, [
      { line: 1, reason: 'name: must be a string' },
      { line: 2, reason: 'name: too many elements, the body must have at most 1000 names, objects and arrays' },
    ]);
  },

  'begins at the line that it is told': async () => {
    const here = await workspace();
    const file = NDJSON(campaigns(20));
    const from = async (line: number) => {
      const { stdout } = await here.importing('campaigns', [file], ['--json', '--from-line', String(line)]);
      const { accepted, nextLine, refused } = JSON.parse(stdout);
      return [accepted, nextLine, refused];
    };
    assert.deepEqual(await from(18), [3, 21, []]);
    assert.deepEqual(await namesIn(here, here.id), ['18', '19', '20']);
    assert.deepEqual(await from(21), [0, 21, []]);
    assert.deepEqual(await from(99), [0, 99, []]);
    assert.deepEqual(
      (await here.importing('campaigns', [])).stdout,
      [
        '0 stored as campaigns, 0 refused (no line from 1 on).',
        'When the file has grown, go on with --from-line 1.\n',
      ].join(' '),
    );
  },

  'reads a file by its name, and says which one it cannot read': async () => {
    const here = await workspace();
    const folder = mkdtempSync(join(tmpdir(), 'import-'));
    try {
      const file = join(folder, 'campaigns.ndjson');
      writeFileSync(file, NDJSON(campaigns(3)));
      const words = (name: string) => ['import', '--workspace', here.id, 'campaigns', name];
      assert.equal((await here.run(words(file))).code, 0);
      assert.deepEqual(await namesIn(here, here.id), namesUpTo(3));
      const unreadable = { [folder]: 'it is a folder', [`${file}.not`]: 'there is no such file' };
      for (const [name, why] of Object.entries(unreadable)) {
        const stderr = `error: ${name} cannot be read: ${why}.\n`;
        assert.deepEqual(await here.run(words(name)), { code: 2, stdout: '', stderr });
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  },

  'draws its bar on a terminal, and takes it away before it tells anything': async () => {
    const here = await workspace();
    const written: [stream: string, text: string][] = [];
    const writingTo = (stream: string) => ({
      write(text: string, done?: () => void): boolean {
        if (text) written.push([stream, text]);
        done?.();
        return true;
      },
    });
    const terminal = { stdout: writingTo('out'), stderr: { ...writingTo('err'), isTTY: true, columns: 80 } };
    const lines = [...campaigns(500), { name: 'bad' }, ...campaigns(600)];
    await here.importing('campaigns', [NDJSON(lines)], [], terminal as never);
    assert.match(written[0]?.[1] ?? '', /K500 lines, \d+ a second$/);
    const told = [...written.entries()].filter(([, [stream]]) => stream === 'out');
    assert.equal(told.length, 2);
    for (const [i] of told) {
      const drawn = written.slice(0, i).findLast(([stream]) => stream === 'err');
      assert.deepEqual(drawn, ['err', '\r\x1b[K']);
    }
  },

  'is into a workspace that there is': async () => {
    const { run } = await workspace();
    const refused = { code: 1, stdout: '', stderr: 'error: There is no workspace with this id.\n' };
    assert.deepEqual(await run(['import', '--workspace', 'nowhere', 'tags', '-']), refused);
  },
});

/** Where an import ended, and what it kept: the lines before the one that it says to go on with. */
async function endOf(here: Awaited<ReturnType<typeof workspace>>, { stdout }: Ran) {
  const { nextLine, ended, accepted } = JSON.parse(stdout);
  assert.deepEqual(await namesIn(here, here.id), namesUpTo(accepted));
  assert.equal(nextLine, accepted + 1);
  return { nextLine, ended };
}

const BAD_LINE = 600;

/** How the bodies of each kind are made and told from each other, and where they are stored. */
const resumable = {
  campaigns: { store: 'campaigns', body: (i: number) => ({ ...campaignBody, name: `${i}` }), textOf: nameOf },
  questions: {
    store: 'inspirationQuestions',
    body: (i: number) => ({ question: `What is number ${i}?` }),
    textOf: ({ question }: { question: string }) => question,
  },
  tags: { store: 'tags', body: (i: number) => ({ name: `${i}` }), textOf: nameOf },
  groups: { store: 'groups', body: (i: number) => ({ name: `${i}` }), textOf: nameOf },
} as const;

function nameOf({ name }: { readonly name: string }): string {
  return name;
}

/** What the storage keeps of the batch that it does not answer for, and whether the operator interrupts meanwhile. */
const cutOffs = {
  'keeps nothing': { keeps: 'none', stops: false },
  'keeps a half': { keeps: 'half', stops: false },
  'keeps all': { keeps: 'all', stops: false },
  'keeps a half, interrupted': { keeps: 'half', stops: true },
} as const;

/** Has the storage fail when it is given a second batch, of which it keeps a part. */
function cutOff(
  { storage }: CommandLine,
  store: (typeof resumable)[keyof typeof resumable]['store'],
  keeps: 'none' | 'half' | 'all',
  meanwhile: () => void = () => undefined,
): void {
  const kept = storage[store] as RecordStore<Entity>;
  const addMany = kept.addMany.bind(kept);
  let batches = 0;
  kept.addMany = async (records) => {
    if (++batches !== 2) return addMany(records);
    meanwhile();
    await addMany(records.slice(0, { none: 0, half: records.length / 2, all: records.length }[keeps]));
    throw new Error('The database is away');
  };
}

suite('an import that does not come to its end', {
  'keeps whole batches when it is interrupted, and says where to go on': async () => {
    const here = await workspace();
    const stdin = new PassThrough();
    stdin.write(NDJSON(campaigns(1200)));
    const onInterrupt = async (stop: () => void) => {
      while ((await namesIn(here, here.id)).length < 1000) await nextTurn();
      stop();
    };
    const ran = await here.importing('campaigns', stdin, ['--json'], { onInterrupt });
    assert.equal(ran.code, 130);
    const { nextLine, ended } = await endOf(here, ran);
    assert.deepEqual([nextLine, ended], [1001, 'stopped']);
    const rest = await here.importing('campaigns', [NDJSON(campaigns(1200))], ['--from-line', String(nextLine)]);
    assert.equal(rest.code, 0);
    assert.deepEqual(await namesIn(here, here.id), namesUpTo(1200));
  },

  'finishes the batch that it is storing when it is interrupted': async () => {
    const here = await workspace();
    const { campaigns: kept } = here.storage;
    const addMany = kept.addMany.bind(kept);
    let interrupt = () => {};
    kept.addMany = (records) => {
      interrupt();
      return addMany(records);
    };
    const given = { onInterrupt: (stop: () => void) => (interrupt = stop) };
    const ran = await here.importing('campaigns', [NDJSON(campaigns(1200))], ['--json'], given);
    assert.equal(ran.code, 130);
    assert.deepEqual(await endOf(here, ran), { nextLine: 501, ended: 'stopped' });
    const sentence = (await here.importing('campaigns', [NDJSON(campaigns(600))], [], given)).stdout;
    assert.match(
      sentence,
      /^Stopped: 500 stored as campaigns, 0 refused \(lines 1 to 500\)\. Go on with --from-line 501\.\n$/,
    );
  },

  'names the lines that may be stored if the storage fails, and stores none of them twice when it goes on': () =>
    each(resumable, ({ store, body, textOf }, kind) =>
      each(cutOffs, async ({ keeps, stops }) => {
        const here = await workspace();
        const file = NDJSON(Array.from({ length: 1200 }, (_, i) => (i + 1 === BAD_LINE ? {} : body(i + 1))));
        const interruption: { stop?: () => void } = {};
        cutOff(here, store, keeps, () => stops && interruption.stop?.());
        const given = { onInterrupt: (stop: () => void) => Object.assign(interruption, { stop }) };
        const ran = await here.importing(kind, [file], ['--json'], given);
        const { refused, importId, ...end } = JSON.parse(ran.stdout);
        const [ended, code, stderr] = stops ? ['stopped', 130, ''] : ['failed', 2, 'error: The database is away\n'];
        assert.deepEqual([ran.code, ran.stderr, refused], [code, stderr, []]);
        const uncertain = { firstLine: 501, lastLine: 1000 };
        assert.deepEqual(end, { kind, dryRun: false, accepted: 500, nextLine: 501, ended, uncertain });

        const words = ['--json', '--from-line', '501', '--import-id', importId];
        const resumed = JSON.parse((await here.importing(kind, [file], words)).stdout);
        assert.deepEqual([resumed.ended, resumed.accepted, resumed.uncertain], ['done', 699, null]);
        assert.deepEqual(
          resumed.refused.map(({ line }: { line: number }) => line),
          [BAD_LINE],
        );
        const texts = (await here.storage[store].listById(here.id, '', 5000)).map((it) => textOf(it as never));
        const expected = Array.from({ length: 1200 }, (_, i) => i + 1).filter((line) => line !== BAD_LINE);
        assert.deepEqual(
          texts,
          expected.map((line) => textOf(body(line) as never)),
        );
      }),
    ),

  'says so in a sentence': async () => {
    const here = await workspace();
    cutOff(here, 'campaigns', 'none');
    const { stdout } = await here.importing('campaigns', [NDJSON([{}, ...campaigns(1200)])]);
    const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}';
    const sentences = [
      '\n499 stored as campaigns, 1 refused \\(lines 1 to 500\\)\\. Lines 501 to 1000 may be stored\\.',
      `Go on with --from-line 501 --import-id ${uuid}: then no line is stored twice\\.\n$`,
    ];
    assert.match(stdout, new RegExp(sentences.join(' ')));
  },

  'prints the line to go on from on standard error if its output cannot be written': async () => {
    for (const [error, code] of [
      ['ENOSPC', 2],
      ['EPIPE', 130],
    ] as const) {
      for (const json of [[], ['--json']]) {
        const here = await workspace();
        const stdout = new Writable({ write: (_, __, done) => done(Object.assign(new Error(error), { code: error })) });
        const lines = NDJSON([{}, ...campaigns(1200)]);
        const ran = await here.importing('campaigns', [lines], json, { stdout });
        assert.equal(ran.code, code);
        const told = /^Stopped: (\d+) stored as campaigns, (\d+) refused .*\. Go on with --from-line (\d+)\.\n/;
        const [, stored, refused, next] = (told.exec(ran.stderr) ?? []).map(Number);
        assert.equal(stored, (await namesIn(here, here.id)).length);
        assert.equal(next, Number(stored) + Number(refused) + 1, ran.stderr);
      }
    }
  },

  'stores another record for another line, kind or workspace under the same id': async () => {
    const here = await workspace();
    const importId = '0190163d-8694-739b-aea5-966c26f8ad91';
    const count = async (file: unknown, words: readonly string[] = []) => {
      await here.importing('campaigns', [NDJSON([file])], ['--import-id', importId, ...words]);
      return (await namesIn(here, here.id)).length;
    };
    assert.equal(await count({ ...campaignBody, name: 'One' }), 1);
    assert.equal(await count({ ...campaignBody, name: 'One' }), 1);
    assert.equal(await count({ ...campaignBody, name: 'Two' }), 2);
    await here.importing('campaigns', [`\n${NDJSON([{ ...campaignBody, name: 'One' }])}`], ['--import-id', importId]);
    assert.equal((await namesIn(here, here.id)).length, 3);
    const other = await here.app.workspaces.create('Other');
    const words = ['import', '--workspace', other.id, 'campaigns', '-', '--import-id', importId];
    await here.run(words, { stdin: [NDJSON([{ ...campaignBody, name: 'One' }])] });
    assert.deepEqual(await namesIn(here, other.id), ['One']);
  },

  'says at once that the storage failed, though no more lines come': async () => {
    const here = await workspace();
    here.storage.campaigns.addMany = () => Promise.reject(new Error('The database is away'));
    async function* stdin() {
      yield Buffer.from(NDJSON(campaigns(700)));
      await new Promise(() => undefined);
    }
    const ran = await here.importing('campaigns', stdin(), ['--json']);
    assert.equal(ran.code, 2);
    assert.match(ran.stderr, /^error: The database is away/);
  },

  'says where to go on when the file cannot be read any further': async () => {
    const here = await workspace();
    async function* stdin() {
      yield Buffer.from(NDJSON(campaigns(700)));
      throw new Error('the disk is gone');
    }
    const ran = await here.importing('campaigns', stdin(), ['--json']);
    assert.equal(ran.code, 2);
    assert.equal(ran.stderr, 'error: the file cannot be read any further: the disk is gone\n');
    assert.deepEqual(await endOf(here, ran), { nextLine: 501, ended: 'failed' });
  },
});
