import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatTimestamp } from '../../core/shared/date.ts';
import { createCommandLine, parseJsonOutput, type RunOptions } from '../support/command-line.ts';
import { NOON } from '../support/core.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';
import { withTemporaryFolder } from '../support/temporary-folder.ts';
import { createCampaignFields } from '../support/tenants.ts';

const CREATED_AT = formatTimestamp(NOON);
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Creates a workspace with an admin, and functions that run a command line whose words are separated by spaces. */
async function createCompany() {
  const cli = createCommandLine();
  const { id: workspaceId } = await cli.app.workspaces.create('Northwind');
  const member = { name: 'Ada', email: 'ada@x.example', role: 'admin', invitation: 'accepted' } as const;
  const { id: memberId } = await cli.app.members.create(workspaceId, member);
  const run = (line: string, options?: RunOptions) =>
    cli.run(
      line.split(' ').map((word) => word.replaceAll('~', ' ')),
      options,
    );
  const runJson = async (line: string, options?: RunOptions) => parseJsonOutput(await run(`${line} --json`, options));
  return { ...cli, run, runJson, workspaceId, memberId };
}

/** For each command line: the output for people, with `ID` for each ID. */
const expectedOutputs: Readonly<Record<string, string>> = {
  'workspace create --name Contoso~Ltd': `id         ID\nname       Contoso Ltd\ncreatedAt  ${CREATED_AT}\n`,
  'workspace list': `ID                                    NAME       CREATED AT\nID  Northwind  ${CREATED_AT}\n`,
  'tag create --name Launch': 'id     ID\nname   Launch\ncolor  yellow\n',
  'tag list': 'ID                                    NAME    COLOR\nID  Hiring  red\n',
  'group list': 'No results.\n',
  'tag delete TAG': 'Deleted: ID.\n',
  me: 'workspace.id    ID\nworkspace.name  Northwind\nmember          -\nkey             -\n',
};

/** Options, and the body of the request that they make. */
const bodies: Readonly<Record<string, object>> = {
  '--description=': { description: '' },
  '--user-type advocate': { userType: 'advocate' },
  '--is-active': { isActive: true },
  '--no-is-active': { isActive: false },
  '--is-active=false': { isActive: false },
  '--no-is-active --is-active=true': { isActive: true },
  '--groups A --groups B': { groups: ['A', 'B'] },
  '--groups A,B': { groups: ['A', 'B'] },
  '--groups=': { groups: [] },
  '--data {"icon":"sun"}': { icon: 'sun' },
  '--data {"icon":"sun","groups":[]} --icon moon': { icon: 'moon', groups: [] },
};

/** Invalid values, and the error that names the option as it was typed. */
const invalidValues: Readonly<Record<string, string>> = {
  'question create': '--question: is required',
  'question create --question Short': '--question: must have at least 10 characters',
  'question create --user-type x': '--question: is required; --user-type: must be one of thought_leader, advocate, all',
  'question create --groups x': '--question: is required; --groups: must be a UUID',
  'question create --groups 0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e0a,y':
    '--question: is required; --groups: must be a UUID (value 2)',
  'question create --data {"question":1,"colour":2}':
    '--data: colour: unknown field, allowed fields: question, description, icon, userType, groups, isActive, archived; --data: question: must be a string',
  'question create --data x': '--data: is not valid JSON',
  'question create --data []': '--data: must be a JSON object',
  'question create --data @/nowhere/file': '--data: cannot be read: no such file or folder',
  'question list --page 0': '--page: must be at least 1',
  'question list --all --page 2': '--all: not allowed together with --page',
  'question list --include-archived=yes': '--include-archived: must be true or false',
  'campaign update C --start-date 2026-02-01 --end-date 2026-01-01': '--end-date: must not be before --start-date',
  'campaign update C --resources {x': '--resources: is not valid JSON',
  'campaign share C': '--as: is required, because this command acts as a member',
};

suite('a command', {
  'prints a table or a sentence': () =>
    each(expectedOutputs, async (expected, line) => {
      const { run, app, workspaceId } = await createCompany();
      const { id } = await app.tags.create(workspaceId, { name: 'Hiring' });
      const { code, stdout, stderr } = await run(line.replace('TAG', id));
      assert.deepEqual([code, stderr], [0, '']);
      assert.equal(stdout.replace(UUID, 'ID'), expected);
    }),

  'takes the fields of the body as options, and from --data': () =>
    each(bodies, async (body, options) => {
      const { runJson, app, workspaceId } = await createCompany();
      const a = (await app.groups.create(workspaceId, { name: 'A' })).id;
      const b = (await app.groups.create(workspaceId, { name: 'B' })).id;
      const insertIds = (text: string) => text.replace(/\bA\b/g, a).replace(/\bB\b/g, b);
      const created = await runJson(`question create --question What~is~new~today? ${insertIds(options)}`);
      const expected = Object.entries(JSON.parse(insertIds(JSON.stringify(body))));
      for (const [name, value] of expected) assert.deepEqual(created[name], value, name);
    }),

  'reads --data from a file and from standard input': () =>
    withTemporaryFolder(async (folder) => {
      const { runJson } = await createCompany();
      writeFileSync(join(folder, 'tag.json'), '{"name": "From a file"}');
      assert.equal((await runJson(`tag create --data @${folder}/tag.json`)).name, 'From a file');
      const stdin = ['{"name": "From standard input"}'];
      assert.equal((await runJson('tag create --data @-', { stdin })).name, 'From standard input');
    }),

  'removes a value with null, and takes numbers, dates and objects as texts': async () => {
    const { runJson, app, workspaceId } = await createCompany();
    const { id } = await app.campaigns.create({ workspaceId }, createCampaignFields('Tents'));
    const resources =
      '--resources https://example.com/a,https://example.com/b --resources {"url":"https://example.com/c"}';
    const options = `--target-shares 7 --total-budget 100.00 --end-date 2027-01-31 ${resources}`;
    const updated = await runJson(`campaign update ${id} ${options}`);
    assert.deepEqual([updated.targetShares, updated.endDate], [7, '2027-01-31']);
    const brief = await runJson(`campaign brief ${id}`);
    assert.equal(brief.totalBudget, '100.00');
    assert.deepEqual(
      brief.resources.map(({ url }: { url: string }) => url),
      ['https://example.com/a', 'https://example.com/b', 'https://example.com/c'],
    );
    assert.equal((await runJson(`campaign update ${id} --target-shares null`)).targetShares, null);
  },

  'accepts an ID in upper and lower case': async () => {
    const { runJson, app, workspaceId } = await createCompany();
    const { id } = await app.tags.create(workspaceId, { name: 'Hiring' });
    assert.equal((await runJson(`tag get ${id.toUpperCase()}`)).id, id);
  },

  'creates a workspace with its first key, which works and belongs to no member': async () => {
    const { run, app } = await createCompany();
    const { code, stdout, stderr } = await run('workspace create --name Contoso --with-key --json');
    const { id, key, ...others } = JSON.parse(stdout);
    assert.deepEqual([code, others], [0, { name: 'Contoso', createdAt: CREATED_AT }]);
    assert.match(stderr, /Store the secret now/);
    const { caller } = await app.apiKeys.authenticate(key);
    assert.deepEqual([caller.workspaceId, caller.access, caller.member], [id, 'full', undefined]);
  },

  'names the option of an invalid value as it was typed, and exits with 2': () =>
    each(invalidValues, async (message, line) => {
      const { run } = await createCompany();
      assert.deepEqual(await run(line), { code: 2, stdout: '', stderr: `error: ${message}\n` });
    }),

  'exits with 2 for a reference to a missing record, and with 1 if a rule rejects it or nothing has the ID':
    async () => {
      const { run, workspaceId } = await createCompany();
      await run('tag create --name Hiring');
      for (const [line, code, message] of [
        [
          `question create --question What~is~new? --groups ${workspaceId}`,
          2,
          /^error: --groups: must be the ID of a group/,
        ],
        ['tag create --name HIRING', 1, /^error: This workspace already has a tag with this name/],
        ['tag get 1', 1, /^error: No/],
      ] as const) {
        const output = await run(line);
        assert.equal(output.code, code, output.stderr);
        assert.match(output.stderr, message);
      }
    },

  'logs what it has written: the workspace, the member that it acted as, and the record': async () => {
    const { run, runJson, written, workspaceId, memberId } = await createCompany();
    const { id: recordId } = await runJson(`tag create --name Hiring --as ada@x.example`);
    await run('tag list');
    await run('tag create --name hiring');
    await run(`tag delete ${recordId.toUpperCase()}`);
    assert.deepEqual(written, [
      { command: 'tag create', workspaceId, memberId, recordId },
      { command: 'tag delete', workspaceId, memberId: undefined, recordId },
    ]);
  },
});

suite('the workspace of a command', {
  'is chosen by its ID in any case or its exact name, and can be omitted if it is the only one': async () => {
    const { runJson, app, workspaceId } = await createCompany();
    await app.tags.create(workspaceId, { name: 'Hiring' });
    for (const option of ['', ` --workspace ${workspaceId.toUpperCase()}`, ' --workspace Northwind'])
      assert.equal((await runJson(`tag list${option}`)).length, 1);
  },

  'is an error with exit code 2 if it is unknown, ambiguous, or missing': async () => {
    const { run, app, workspaceId } = await createCompany();
    const createError = (problem: string) => ({ code: 2, stdout: '', stderr: `error: --workspace: ${problem}\n` });
    const unknown = 'no workspace has this ID or name, list them with `advocacy workspace list`';
    assert.deepEqual(await run('tag list --workspace northwind'), createError(unknown));
    const { id } = await app.workspaces.create('Contoso');
    const missing = `there are 2, use one of their IDs: ${workspaceId} (Northwind), ${id} (Contoso)`;
    assert.deepEqual(await run('tag list'), createError(missing));
    const { id: otherId } = await app.workspaces.create('Contoso');
    const ambiguous = `there are 2, use one of their IDs: ${id} (Contoso), ${otherId} (Contoso)`;
    assert.deepEqual(await run('tag list --workspace Contoso'), createError(ambiguous));
    const none = 'no workspace exists, create one with `advocacy workspace create`';
    assert.deepEqual(await createCommandLine().run(['tag', 'list']), createError(none));
  },

  'has the member of --as: unknown and ambiguous ones are errors with exit code 2': async () => {
    const { run, runJson, app, memberId } = await createCompany();
    for (const member of [memberId.toUpperCase(), 'ADA@X.example'])
      assert.equal((await runJson(`me --as ${member}`)).member.id, memberId);
    const other = await app.workspaces.create('Contoso');
    for (const member of [memberId, 'ada@x.example', 'Ada']) {
      const { code, stderr } = await run(`me --workspace ${other.id} --as ${member}`);
      assert.deepEqual([code, stderr], [2, 'error: --as: no member has this ID or email address\n']);
    }
  },
});

suite('domain mark-verified', {
  'verifies a domain by its ID or slug, without a name server': async () => {
    const { run, runJson, app, workspaceId } = await createCompany();
    const { domain } = await app.domains.createOrArchive(workspaceId, { slug: 'go.example' });
    const other = await app.workspaces.create('Contoso');
    await app.domains.createOrArchive(other.id, { slug: 'go.example' });
    const { updatedAt: _, ...bySlug } = await runJson('domain mark-verified GO.example --workspace Northwind');
    assert.equal(bySlug.verified, true);
    const { updatedAt: __, ...byId } = await runJson(
      `domain mark-verified ${domain.id.toUpperCase()} --workspace Northwind`,
    );
    assert.deepEqual([byId, Object.keys(byId).includes('workspaceId')], [bySlug, false]);
    assert.equal((await run('domain mark-verified other.example --workspace Northwind')).code, 1);
    const { code, stderr } = await run('domain mark-verified go.example --workspace Contoso');
    assert.equal(code, 1);
    assert.match(stderr, /^error: Another workspace has verified this domain/);
  },
});
