import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { commands } from '../../adapters/cli/commands.ts';
import { createApiKeySecret } from '../../core/access/api-key.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import { createCommandLine, parseJsonOutput, type TestCommandLine } from '../support/command-line.ts';
import { NOON, SECOND } from '../support/core.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';
import { createCampaignFields } from '../support/tenants.ts';

const SETUP_TIME = formatTimestamp(NOON);
const COMMAND_TIME = formatTimestamp(NOON + SECOND);

/**
 * Short names of the IDs of a company's records in creation order. `new` is the first record that a command creates.
 */
const NAMES = ['w', 'g', 'm', 'k', 't', 'p', 'd', 'c', 'new'];
const toId = (name: string) => `00000000-0000-7000-8000-${String(NAMES.indexOf(name)).padStart(12, '0')}`;
/**
 * Replaces the IDs in an output by their names, and the gaps of tables, which depend on the length of IDs, by two
 * spaces.
 */
const toNames = (text: string) =>
  NAMES.reduce((result, name) => result.replaceAll(toId(name), name), text).replaceAll(/ {2,}/g, '  ');
const SECRETS = ['a', 'b'].map((letter) => letter.repeat(32));

/**
 * Creates a workspace with one record of each type that commands can list, one second before the commands of a test.
 */
async function createCompany(): Promise<TestCommandLine> {
  const ids = NAMES.map(toId).values();
  const secrets = SECRETS.values();
  const cli = createCommandLine({
    newId: () => ids.next().value ?? randomUUID(),
    newSecret: () => secrets.next().value ?? '',
  });
  const { app, clock } = cli;
  const w = toId('w');
  await app.workspaces.create('Northwind');
  await app.groups.create(w, { name: 'Sales' });
  const adminFields = { name: 'Ada', email: 'ada@x.example', role: 'admin', groupIds: [toId('g')] } as const;
  const member = await app.members.create(w, adminFields);
  await app.apiKeys.create(w, { memberId: member.id, label: 'laptop' });
  await app.tags.create(w, { name: 'Launch' });
  await app.contentPillars.create({ workspaceId: w, member }, { title: 'Life', color: 'green' });
  await app.domains.createOrArchive(w, { slug: 'go.example' });
  await app.campaigns.create({ workspaceId: w }, { ...createCampaignFields('Tents'), status: 'draft' });
  clock.now += SECOND;
  const run: TestCommandLine['run'] = async (args, options) => {
    const { code, stdout, stderr } = await cli.run(
      args.map((word) => (NAMES.includes(word) ? toId(word) : word)),
      options,
    );
    return { code, stdout: toNames(stdout), stderr: toNames(stderr) };
  };
  return { ...cli, run };
}

/** Splits a line into arguments. A tilde stands for a space inside an argument. */
function splitArguments(line: string): string[] {
  return line.split(' ').map((word) => word.replaceAll('~', ' '));
}

const createSecret = (letter: string) => createApiKeySecret(letter.repeat(32));
const KEY_CREATED_MESSAGE = `The API key new was created. Store the key now, because it is shown only once:\n\n  ${createSecret('b')}\n\n`;

const CREATED = { createdAt: SETUP_TIME, updatedAt: SETUP_TIME };
const UPDATED = { createdAt: SETUP_TIME, updatedAt: COMMAND_TIME };
const NEW = { id: 'new', createdAt: COMMAND_TIME, updatedAt: COMMAND_TIME };
const person = { id: 'm', workspaceId: 'w', name: 'Ada', email: 'ada@x.example', role: 'admin' };
const member = { ...person, seatType: 'advocate', groupIds: ['g'], invitation: 'accepted', ...CREATED };
const newMember = { ...member, name: 'Ben', email: 'b@x.example', ...NEW };
const times = { createdAt: SETUP_TIME, expiresAt: null, revokedAt: null, lastUsedAt: null };
const lastFour = createSecret('a').slice(-4);
const key = { id: 'k', workspaceId: 'w', label: 'laptop', lastFour, memberId: 'm', access: 'full', ...times };
const secret = createSecret('b');
const newKey = { ...key, id: 'new', createdAt: COMMAND_TIME, lastFour: secret.slice(-4), key: secret };
const newBareKey = { ...newKey, label: '', memberId: null };
const texts = { title: 'Life', description: '', color: 'green' };
const pillar = { id: 'p', ...texts, status: 'published', authorId: 'm', workspaceId: 'w', ...CREATED };
const urls = { placeholder: 'https://go.example/your-link', expiredUrl: '', notFoundUrl: '' };
const domain = { id: 'd', slug: 'go.example', verified: false, primary: true, archived: false, ...urls, ...CREATED };
const dates = { createdAt: SETUP_TIME, startDate: '2026-01-01', endDate: '2026-12-31', targetShares: null };
const counts = { destinationUrl: 'https://example.com/', clicks: 0, shares: 0 };
const campaign = { id: 'c', name: 'Tents', status: 'draft', description: '', ...counts, ...dates };
const published = { ...campaign, status: 'published' };

type Case = readonly [message: string, json: unknown, setup?: string];

/** For each command line: the output without `--json` and with it, and a command line that runs first. */
const expectedOutputs: Readonly<Record<string, Case>> = {
  'workspace create --name Contoso~Ltd': [
    'The workspace Contoso Ltd was created: new\n',
    { id: 'new', name: 'Contoso Ltd', createdAt: COMMAND_TIME },
  ],
  'workspace list': [
    `ID  NAME  CREATED\nw  Northwind  ${SETUP_TIME}\n`,
    [{ id: 'w', name: 'Northwind', createdAt: SETUP_TIME }],
  ],
  'member create --workspace w --name Ben --email b@x.example': [
    'The member Ben was created: new\n',
    { ...newMember, role: 'member', groupIds: [] },
  ],
  'member create --workspace w --name ~Ben~ --email ~b@x.example --role admin --seat-type thought_leader --invitation pending --group g --group g':
    ['The admin Ben was created: new\n', { ...newMember, seatType: 'thought_leader', invitation: 'pending' }],
  'member update --workspace w m': ['The admin Ada was updated: m\n', member],
  'member update --workspace w m --invitation expired --name Ada~Winter --role member': [
    'The member Ada Winter was updated: m\n',
    { ...member, name: 'Ada Winter', role: 'member', invitation: 'expired', ...UPDATED },
  ],
  'member update --workspace w m --group= --seat-type thought_leader --email a@y.example': [
    'The admin Ada was updated: m\n',
    { ...member, email: 'a@y.example', seatType: 'thought_leader', groupIds: [], ...UPDATED },
  ],
  'member list --workspace w': [
    'ID  NAME  EMAIL  ROLE  SEAT  INVITATION  GROUPS\nm  Ada  ada@x.example  admin  advocate  accepted  g\n',
    [member],
  ],
  'key create --workspace w': [KEY_CREATED_MESSAGE, newBareKey],
  'key create --workspace w --member m --label laptop --access read --expires-at 2030-01-31': [
    KEY_CREATED_MESSAGE,
    { ...newKey, access: 'read', expiresAt: '2030-01-31T23:59:59.999Z' },
  ],
  'key create --workspace w --expires-at 2030-01-31T09:30:00+02:00': [
    KEY_CREATED_MESSAGE,
    { ...newBareKey, expiresAt: '2030-01-31T07:30:00.000Z' },
  ],
  'key list --workspace w': [
    'ID  LABEL  KEY  MEMBER  ACCESS  LAST USED  ENDS\nk  laptop  …8aJj  m  full  never  -\n',
    [key],
  ],
  'key revoke --workspace w k': [
    `The key …8aJj (k) was revoked at ${COMMAND_TIME}.\n`,
    { ...key, revokedAt: COMMAND_TIME },
  ],
  'group list --workspace w': [
    `ID  NAME  MEMBERS  CREATED\ng  Sales  1  ${SETUP_TIME}\n`,
    [{ id: 'g', name: 'Sales', count: 1, createdAt: SETUP_TIME }],
  ],
  'tag list --workspace w': ['ID  NAME  COLOR\nt  Launch  red\n', [{ id: 't', name: 'Launch', color: 'red' }]],
  'pillar create --workspace w --author m --title Work --color blue --description About~us': [
    'The content pillar Work was created and published: new\n',
    { ...pillar, title: 'Work', color: 'blue', description: 'About us', ...NEW },
  ],
  'pillar list --workspace w': ['ID  TITLE  COLOR  STATUS\np  Life  green  published\n', [pillar]],
  'domain verify --workspace w d': ['The domain go.example is verified.\n', { ...domain, verified: true, ...UPDATED }],
  'domain list --workspace w': ['ID  DOMAIN  VERIFIED  PRIMARY  ARCHIVED\nd  go.example  no  yes  no\n', [domain]],
  'campaign list --workspace w': [
    'ID  NAME  STATUS  STARTS  ENDS  SHARES  CLICKS\nc  Tents  draft  2026-01-01  2026-12-31  0  0\n',
    [campaign],
  ],
  'campaign set-status --workspace w c published': ['The campaign Tents is published.\n', published],
  'share record --workspace w --campaign c --member m': [
    'The campaign Tents has been shared by 1 member.\n',
    { ...published, shares: 1 },
    'campaign set-status --workspace w c published',
  ],
};

/** The messages of empty lists. */
const emptyListMessages: Readonly<Record<string, string>> = {
  'member list': 'The workspace has no members yet.',
  'key list': 'The workspace has no keys yet.',
  'group list': 'The workspace has no groups yet.',
  'tag list': 'The workspace has no tags yet.',
  'pillar list': 'The workspace has no content pillars yet.',
  'domain list': 'The workspace has no domains yet.',
  'campaign list': 'The workspace has no campaigns yet.',
};

const createNotFoundMessage = (noun: string) => `No ${noun} of this workspace has this ID. Check the ID.`;

/** The errors of command lines that a rule rejects. `OTHER` stands for the ID of another workspace. */
const expectedErrors: Readonly<Record<string, string>> = {
  'member list --workspace nowhere': 'No workspace has this ID. Check the ID.',
  'member update --workspace w nobody --name B': createNotFoundMessage('member'),
  'member create --workspace w --name B --email b@x --group g --group lost':
    'groupIds.1: must be the ID of a group of this workspace',
  'member update --workspace OTHER m --name B': createNotFoundMessage('member'),
  'key create --workspace w --expires-at 2026-01-30': 'expiresAt: must be in the future',
  'key create --workspace w --expires-at 2026-01-31T12:00:01Z': 'expiresAt: must be in the future',
  'key revoke --workspace OTHER k': createNotFoundMessage('API key'),
  'domain verify --workspace OTHER d': createNotFoundMessage('domain'),
  'share record --workspace w --campaign c --member m':
    'The campaign is draft. Only a published campaign can be shared.',
};

suite('a command', {
  'prints a table or a sentence, and one JSON value and nothing else with --json': () =>
    each(expectedOutputs, async ([message, json, setup], line) => {
      for (const isJson of [false, true]) {
        const cli = await createCompany();
        if (setup) await cli.run(splitArguments(setup));
        const { code, stdout, stderr } = await cli.run(splitArguments(`${line}${isJson ? ' --json' : ''}`));
        assert.deepEqual([code, stderr], [0, '']);
        assert.deepEqual(isJson ? JSON.parse(stdout) : stdout, isJson ? json : toNames(message));
      }
    }),

  'is covered by these tests, unless it has a test file of its own': () => {
    const lines = Object.keys(expectedOutputs);
    const uncovered = commands.filter(({ name }) => !lines.some((line) => line.startsWith(name)));
    assert.deepEqual(
      uncovered.map(({ name }) => name),
      ['import', 'backup', 'copy'],
    );
  },

  'prints a message instead of an empty list': () =>
    each(emptyListMessages, async (message, line) => {
      const cli = createCommandLine();
      const { id } = await cli.app.workspaces.create('Empty');
      const args = [...line.split(' '), '--workspace', id];
      assert.deepEqual(await cli.run(args), { code: 0, stdout: `${message}\n`, stderr: '' });
      assert.equal((await cli.run([...args, '--json'])).stdout, '[]\n');
    }),

  'accepts an ID in upper and lower case': async () => {
    const { app, run } = createCommandLine();
    const { id } = await app.workspaces.create('Northwind');
    const group = await app.groups.create(id, { name: 'Sales' });
    const options = ['--workspace', id.toUpperCase(), '--group', group.id.toUpperCase(), '--json'];
    const created = parseJsonOutput(await run(['member', 'create', '--name', 'Ada', '--email', 'a@x', ...options]));
    assert.deepEqual([created.workspaceId, created.groupIds], [id, [group.id]]);
    const update = ['member', 'update', created.id.toUpperCase(), '--workspace', id, '--json'];
    assert.deepEqual(parseJsonOutput(await run(update)), created);
  },
});

suite('a command that a rule rejects', {
  'prints the error of the rule on standard error, and exits with 1': () =>
    each(expectedErrors, async (message, line) => {
      const cli = await createCompany();
      const other = await cli.app.workspaces.create('Other');
      for (const json of [[], ['--json']]) {
        const args = splitArguments(line).map((word) => (word === 'OTHER' ? other.id : word));
        assert.deepEqual(await cli.run([...args, ...json]), { code: 1, stdout: '', stderr: `error: ${message}\n` });
      }
    }),
});
