import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { commands } from '../../adapters/cli/commands.ts';
import { apiKeySecret } from '../../core/access/api-key.ts';
import { timestamp } from '../../core/shared/date.ts';
import { answerOf, type CommandLine, commandLine } from '../support/command-line.ts';
import { NOON, SECOND } from '../support/core.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';
import { campaignBody } from '../support/tenants.ts';

const MADE = timestamp(NOON);
const LATER = timestamp(NOON + SECOND);

/** The ids of a company's records in the order of their making; `new` is what a command makes first. */
const IDS = ['w', 'g', 'm', 'k', 't', 'p', 'd', 'c', 'new'];
const SECRETS = ['a', 'b'].map((letter) => letter.repeat(32));

/** A workspace with one record of each kind, made a second before the commands of a test. */
async function company(): Promise<CommandLine> {
  const ids = IDS.values();
  const secrets = SECRETS.values();
  const line = commandLine({
    newId: () => ids.next().value ?? randomUUID(),
    newSecret: () => secrets.next().value ?? '',
  });
  const { app, clock } = line;
  await app.workspaces.create('Northwind');
  await app.groups.create('w', { name: 'Sales' });
  await app.members.create('w', { name: 'Ada', email: 'ada@x.example', role: 'admin', groupIds: ['g'] });
  await app.apiKeys.create('w', { memberId: 'm', label: 'laptop' });
  await app.tags.create('w', 'Launch');
  await app.contentPillars.create('w', { authorId: 'm', title: 'Life', color: 'green' });
  await app.domains.createOrArchive('w', { slug: 'go.example' });
  await app.campaigns.create({ workspaceId: 'w' }, { ...campaignBody('Tents'), status: 'draft' });
  clock.now += SECOND;
  return line;
}

/** The words of a line; a tilde stands for a space in one. */
function wordsOf(line: string): string[] {
  return line.split(' ').map((word) => word.replaceAll('~', ' '));
}

const secretOf = (letter: string) => apiKeySecret(letter.repeat(32));
const KEY_MADE = `The key new is made. It is shown this once, so keep it now:\n\n  ${secretOf('b')}\n\n`;

const member = {
  id: 'm',
  workspaceId: 'w',
  name: 'Ada',
  email: 'ada@x.example',
  role: 'admin',
  seatType: 'advocate',
  groupIds: ['g'],
  invitation: 'accepted',
  createdAt: MADE,
  updatedAt: MADE,
};
const newMember = { ...member, id: 'new', name: 'Ben', email: 'b@x.example', createdAt: LATER, updatedAt: LATER };
const key = {
  id: 'k',
  workspaceId: 'w',
  label: 'laptop',
  lastFour: secretOf('a').slice(-4),
  memberId: 'm',
  access: 'full',
  createdAt: MADE,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
};
const newKey = { ...key, id: 'new', createdAt: LATER, lastFour: secretOf('b').slice(-4), key: secretOf('b') };
const pillar = {
  id: 'p',
  title: 'Life',
  description: '',
  color: 'green',
  status: 'published',
  authorId: 'm',
  workspaceId: 'w',
  createdAt: MADE,
  updatedAt: MADE,
};
const domain = {
  id: 'd',
  slug: 'go.example',
  verified: false,
  primary: true,
  archived: false,
  placeholder: 'https://go.example/your-link',
  expiredUrl: '',
  notFoundUrl: '',
  createdAt: MADE,
  updatedAt: MADE,
};
const campaign = {
  id: 'c',
  name: 'Tents',
  status: 'draft',
  createdAt: MADE,
  description: '',
  destinationUrl: 'https://example.com/',
  clicks: 0,
  shares: 0,
  startDate: '2026-01-01',
  endDate: '2026-12-31',
  targetShares: null,
};
const published = { ...campaign, status: 'published' };

interface Case {
  /** What is done before. */
  readonly after?: string;
  readonly json: unknown;
  /** What people read. */
  readonly says: string;
}

/** What command lines answer. */
const answers: Readonly<Record<string, Case>> = {
  'workspace create --name Contoso~Ltd': {
    json: { id: 'new', name: 'Contoso Ltd', createdAt: LATER },
    says: 'The workspace Contoso Ltd is made: new\n',
  },
  'workspace list': {
    json: [{ id: 'w', name: 'Northwind', createdAt: MADE }],
    says: `ID  NAME       MADE\nw   Northwind  ${MADE}\n`,
  },
  'member create --workspace w --name Ben --email b@x.example': {
    json: { ...newMember, role: 'member', groupIds: [] },
    says: 'The member Ben is added: new\n',
  },
  'member create --workspace w --name ~Ben~ --email ~b@x.example --role admin --seat-type thought_leader --invitation pending --group g --group G':
    {
      json: { ...newMember, seatType: 'thought_leader', invitation: 'pending' },
      says: 'The admin Ben is added: new\n',
    },
  'member update --workspace w m': { json: member, says: 'The admin Ada is up to date: m\n' },
  'member update --workspace w m --invitation expired --name Ada~Winter --role member --seat-type thought_leader': {
    json: {
      ...member,
      name: 'Ada Winter',
      role: 'member',
      seatType: 'thought_leader',
      invitation: 'expired',
      updatedAt: LATER,
    },
    says: 'The member Ada Winter is up to date: m\n',
  },
  'member update --workspace w m --no-group --email a@y.example': {
    json: { ...member, email: 'a@y.example', groupIds: [], updatedAt: LATER },
    says: 'The admin Ada is up to date: m\n',
  },
  'member list --workspace w': {
    json: [member],
    says: 'ID  NAME  EMAIL          ROLE   SEAT      INVITATION  GROUPS\nm   Ada   ada@x.example  admin  advocate  accepted    g\n',
  },
  'key create --workspace w': {
    json: { ...newKey, label: '', memberId: null },
    says: KEY_MADE,
  },
  'key create --workspace w --member m --label laptop --access read --expires-at 2030-01-31': {
    json: { ...newKey, access: 'read', expiresAt: '2030-01-31T23:59:59.999Z' },
    says: KEY_MADE,
  },
  'key create --workspace w --expires-at 2030-01-31T09:30:00+02:00': {
    json: { ...newKey, label: '', memberId: null, expiresAt: '2030-01-31T07:30:00.000Z' },
    says: KEY_MADE,
  },
  'key list --workspace w': {
    json: [key],
    says: 'ID  LABEL   KEY    MEMBER  ACCESS  LAST USED  ENDS\nk   laptop  …8aJj  m       full    never      -\n',
  },
  'key revoke --workspace w k': {
    json: { ...key, revokedAt: LATER },
    says: `The key …8aJj (k) is revoked since ${LATER}.\n`,
  },
  'group list --workspace w': {
    json: [{ id: 'g', name: 'Sales', count: 1, createdAt: MADE }],
    says: `ID  NAME   MEMBERS  MADE\ng   Sales  1        ${MADE}\n`,
  },
  'tag list --workspace w': {
    json: [{ id: 't', name: 'Launch', color: 'red' }],
    says: 'ID  NAME    COLOR\nt   Launch  red\n',
  },
  'pillar create --workspace w --author m --title Work --color blue --description About~us': {
    json: {
      ...pillar,
      id: 'new',
      title: 'Work',
      color: 'blue',
      description: 'About us',
      createdAt: LATER,
      updatedAt: LATER,
    },
    says: 'The content pillar Work is published: new\n',
  },
  'pillar list --workspace w': {
    json: [pillar],
    says: 'ID  TITLE  COLOR  STATUS\np   Life   green  published\n',
  },
  'domain verify --workspace w d': {
    json: { ...domain, verified: true, updatedAt: LATER },
    says: 'The domain go.example is verified.\n',
  },
  'domain list --workspace w': {
    json: [domain],
    says: 'ID  DOMAIN      VERIFIED  PRIMARY  ARCHIVED\nd   go.example  no        yes      no\n',
  },
  'campaign list --workspace w': {
    json: [campaign],
    says: 'ID  NAME   STATUS  STARTS      ENDS        SHARES  CLICKS\nc   Tents  draft   2026-01-01  2026-12-31  0       0\n',
  },
  'campaign set-status --workspace w c published': { json: published, says: 'The campaign Tents is published.\n' },
  'share record --workspace w --campaign c --member m': {
    after: 'campaign set-status --workspace w c published',
    json: { ...published, shares: 1 },
    says: 'The campaign Tents has been shared by 1 member.\n',
  },
  'click record --workspace w --campaign c': {
    after: 'campaign set-status --workspace w c published',
    json: { ...published, clicks: 1 },
    says: 'The campaign Tents has 1 click.\n',
  },
  'click record --workspace w --campaign c --count 25': {
    after: 'campaign set-status --workspace w c published',
    json: { ...published, clicks: 25 },
    says: 'The campaign Tents has 25 clicks.\n',
  },
};

/** What empty lists say. */
const nothing: Readonly<Record<string, string>> = {
  'member list': 'The workspace has no members yet.',
  'key list': 'The workspace has no keys yet.',
  'group list': 'The workspace has no groups yet.',
  'tag list': 'The workspace has no tags yet.',
  'pillar list': 'The workspace has no content pillars yet.',
  'domain list': 'The workspace has no domains yet.',
  'campaign list': 'The workspace has no campaigns yet.',
};

const noneWith = (what: string) => `There is no ${what} with this id in the workspace.`;

/** What command lines are refused with. */
const refusals: Readonly<Record<string, string>> = {
  'member list --workspace nowhere': 'There is no workspace with this id.',
  'member create --workspace w --name B --email b@x --group g --group lost': 'groupIds.1: is no group of the workspace',
  'member create --workspace OTHER --name B --email b@x --group g': 'groupIds.0: is no group of the workspace',
  'member update --workspace w lost --name B': noneWith('member'),
  'member update --workspace OTHER m --name B': noneWith('member'),
  'key create --workspace OTHER --member m': noneWith('member'),
  'key create --workspace w --expires-at 2026-01-30': 'expiresAt: must be in the future',
  'key create --workspace w --expires-at 2026-01-31T12:00:01Z': 'expiresAt: must be in the future',
  'key revoke --workspace OTHER k': noneWith('API key'),
  'pillar create --workspace OTHER --author m --title T --color red': noneWith('member'),
  'domain verify --workspace OTHER d': noneWith('domain'),
  'campaign set-status --workspace OTHER c published': noneWith('campaign'),
  'share record --workspace w --campaign c --member lost': noneWith('member'),
  'share record --workspace w --campaign c --member m':
    'Only a published campaign can be shared or clicked; this one is draft.',
  'click record --workspace w --campaign c': 'Only a published campaign can be shared or clicked; this one is draft.',
  'click record --workspace w --campaign lost': noneWith('campaign'),
};

suite('a command', {
  'answers with one JSON value and nothing else, where that is asked for': () =>
    each(answers, async ({ after, json }, line) => {
      const here = await company();
      if (after) await here.run(wordsOf(after));
      const { code, stdout, stderr } = await here.run(wordsOf(`${line} --json`));
      assert.deepEqual([code, stderr], [0, '']);
      assert.deepEqual(JSON.parse(stdout), json);
    }),

  'answers people with a table or a sentence': () =>
    each(answers, async ({ after, says }, line) => {
      const here = await company();
      if (after) await here.run(wordsOf(after));
      assert.deepEqual(await here.run(wordsOf(line)), { code: 0, stdout: says, stderr: '' });
    }),

  'is in these tests': () => {
    const lines = Object.keys(answers);
    const untold = commands.filter(({ name }) => !lines.some((line) => line.startsWith(name)));
    assert.deepEqual(
      untold.map(({ name }) => name),
      ['import', 'seed'],
    );
  },

  'says that there is nothing to list': () =>
    each(nothing, async (says, line) => {
      const here = commandLine();
      const { id } = await here.app.workspaces.create('Empty');
      const words = [...line.split(' '), '--workspace', id];
      assert.deepEqual(await here.run(words), { code: 0, stdout: `${says}\n`, stderr: '' });
      assert.equal((await here.run([...words, '--json'])).stdout, '[]\n');
    }),

  'takes an id in either case': async () => {
    const { app, run } = commandLine();
    const { id } = await app.workspaces.create('Northwind');
    const group = await app.groups.create(id, { name: 'Sales' });
    const options = ['--workspace', id.toUpperCase(), '--group', group.id.toUpperCase(), '--json'];
    const made = answerOf(await run(['member', 'create', '--name', 'Ada', '--email', 'a@x', ...options]));
    assert.deepEqual([made.workspaceId, made.groupIds], [id, [group.id]]);
    const update = ['member', 'update', made.id.toUpperCase(), '--workspace', id, '--json'];
    assert.deepEqual(answerOf(await run(update)), made);
  },
});

suite('what a rule refuses', {
  'is told on standard error in its own words, and ends with 1': () =>
    each(refusals, async (says, line) => {
      const here = await company();
      const other = await here.app.workspaces.create('Other');
      for (const json of [[], ['--json']]) {
        const words = wordsOf(line).map((word) => (word === 'OTHER' ? other.id : word));
        assert.deepEqual(await here.run([...words, ...json]), { code: 1, stdout: '', stderr: `error: ${says}\n` });
      }
    }),

  'is a domain that another workspace has verified': async () => {
    const { app, run } = commandLine();
    const ids = [];
    for (const name of ['one', 'two']) {
      const { id } = await app.workspaces.create(name);
      ids.push(['--workspace', id, (await app.domains.createOrArchive(id, { slug: 'go.example' })).domain.id]);
    }
    const [first, second] = ids as [string[], string[]];
    assert.equal((await run(['domain', 'verify', ...first])).code, 0);
    const refused = { code: 1, stdout: '', stderr: 'error: Another workspace has verified this domain.\n' };
    assert.deepEqual(await run(['domain', 'verify', ...second]), refused);
  },
});

/** Command lines that make what is there already, and the id of what they are warned of. */
const warnings: Readonly<Record<string, string>> = {
  'workspace create --name NORTHWIND': 'Another workspace has the same name: w',
  'member create --workspace w --name Ben --email ADA@x.example':
    'Another member of the workspace has the same email address: m',
  'member update --workspace w other --email ada@X.example':
    'Another member of the workspace has the same email address: m',
};

suite('what another has', {
  'may be the same name or email address: the command succeeds with a warning': () =>
    each(warnings, async (says, line) => {
      for (const json of [[], ['--json']]) {
        const here = await company();
        const member = await here.app.members.create('w', { name: 'Other', email: 'other@x.example' });
        const words = wordsOf(line).map((word) => (word === 'other' ? member.id : word));
        const { code, stdout, stderr } = await here.run([...words, ...json]);
        assert.deepEqual([code, stderr], [0, `warning: ${says}\n`]);
        if (json.length > 0) assert.ok(JSON.parse(stdout).id);
      }
    }),

  'causes no warning in another workspace, or if it does not change': async () => {
    const here = await company();
    await here.app.members.create('w', { name: 'Double', email: 'ada@x.example' });
    const other = await here.app.workspaces.create('Other');
    for (const line of [
      `member create --workspace ${other.id} --name Ada --email ada@x.example`,
      'member update --workspace w m --name Ada~Winter',
    ]) {
      const { code, stderr } = await here.run(wordsOf(line));
      assert.deepEqual([code, stderr], [0, '']);
    }
  },
});

suite('a share', {
  'of a member counts once': async () => {
    const here = await company();
    await here.run(wordsOf('campaign set-status --workspace w c published'));
    const share = wordsOf('share record --workspace w --campaign c --member m --json');
    for (let i = 0; i < 2; i++) assert.equal(answerOf(await here.run(share)).shares, 1);
  },
});
