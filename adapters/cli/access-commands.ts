import { z } from 'zod';
import { type ApiKey, KEY_LABEL } from '../../core/access/api-key.ts';
import { ACCESS } from '../../core/access/caller.ts';
import {
  EMAIL,
  emailProblem,
  INVITATIONS,
  MEMBER_NAME,
  type Member,
  ROLES,
  SEAT_TYPES,
} from '../../core/access/member.ts';
import { WORKSPACE_NAME, type Workspace } from '../../core/access/workspace.ts';
import { endOf, timestamp } from '../../core/shared/date.ts';
import { fold } from '../../core/shared/text.ts';
import { endDate, text } from '../api/fields.ts';
import { anyId, type Column, command, listed, type Message, parameter, picked, workspaceOption } from './command.ts';
import { harmless } from './terminal-text.ts';

/** Returns another record with the same text in a field (case-insensitive). There is no index for this, so it reads all records. */
async function otherLike<F extends string, T extends Readonly<Record<F | 'id', string>>>(
  record: T,
  field: F,
  all: AsyncIterable<T>,
): Promise<T | undefined> {
  const folded = fold(record[field]);
  for await (const other of all) if (other.id !== record.id && fold(other[field]) === folded) return other;
  return undefined;
}

const workspaceFields = ['id', 'name', 'createdAt'] as const satisfies (keyof Workspace)[];

export const createWorkspace = command({
  name: 'workspace create',
  does: 'make a workspace',
  more: 'Names need not be unique: if another workspace has the same name, a warning is printed.',
  example: 'workspace create --name "Northwind Outdoor"',
  parameters: { name: parameter('--name <name>', 'its name', text(WORKSPACE_NAME)) },
  run: async ({ app }, { name }) => {
    const workspace = await app.workspaces.create(name);
    // Checked after the creation, so that at least one of two simultaneous creations gets the warning.
    const other = await otherLike(workspace, 'name', app.workspaces.iterate());
    return {
      json: picked(workspace, workspaceFields),
      says: `The workspace ${harmless(workspace.name)} is made: ${workspace.id}`,
      ...(other && { warning: `Another workspace has the same name: ${other.id}` }),
    };
  },
});

export const listWorkspaces = command({
  name: 'workspace list',
  does: 'list all workspaces',
  example: 'workspace list',
  parameters: {},
  run: async ({ app }) =>
    listed(
      app.workspaces.iterate(),
      workspaceFields,
      [
        ['ID', ({ id }) => id],
        ['NAME', ({ name }) => name],
        ['MADE', ({ createdAt }) => createdAt],
      ],
      'There is no workspace yet: make one with `advocacy workspace create`.',
    ),
});

const memberFields = [
  'id',
  'workspaceId',
  'name',
  'email',
  'role',
  'seatType',
  'groupIds',
  'invitation',
  'createdAt',
  'updatedAt',
] as const satisfies (keyof Member)[];

const name = parameter('--name <name>', 'their name', text(MEMBER_NAME));
const email = parameter('--email <address>', 'their email address', text(EMAIL, emailProblem));
const role = parameter('--role <role>', 'an admin may write, a member only read', z.enum(ROLES));
const seatType = parameter('--seat-type <type>', 'their seat', z.enum(SEAT_TYPES));
const distinctIds = z.array(anyId).transform((ids) => [...new Set(ids)]);
const groupIds = parameter('--group <id>', 'a group that they are in; may be repeated', distinctIds, { repeats: true });
const invitation = parameter(
  '--invitation <state>',
  'the key of a pending one is refused with 403, of an expired one with 410',
  z.enum(INVITATIONS),
);

const EMAIL_NOTE =
  'Email addresses need not be unique: if another member of the workspace has the same one (ignoring case), a warning is printed.';

/** Returns the answer about a member, with a warning if another one of `members` has the same email address. */
async function told(member: Member, done: string, members?: AsyncIterable<Member>): Promise<Message> {
  const other = members && (await otherLike(member, 'email', members));
  return {
    json: picked(member, memberFields),
    says: `The ${member.role} ${harmless(member.name)} is ${done}: ${member.id}`,
    ...(other && { warning: `Another member of the workspace has the same email address: ${other.id}` }),
  };
}

export const createMember = command({
  name: 'member create',
  does: 'add a member to a workspace',
  more: EMAIL_NOTE,
  example: 'member create --workspace 0190… --name "Ada Winter" --email ada@example.com --role admin',
  parameters: {
    workspaceId: workspaceOption,
    name,
    email,
    role: { ...role, schema: role.schema.default('member') },
    seatType: { ...seatType, schema: seatType.schema.default('advocate') },
    groupIds: { ...groupIds, schema: groupIds.schema.default([]) },
    invitation: { ...invitation, schema: invitation.schema.default('accepted') },
  },
  run: async ({ app }, { workspaceId, ...member }) =>
    told(await app.members.create(workspaceId, member), 'added', app.members.iterate(workspaceId)),
});

export const updateMember = command({
  name: 'member update',
  does: 'change a member; what is left out stays',
  more: EMAIL_NOTE,
  example: 'member update --workspace 0190… 0191… --invitation expired',
  parameters: {
    id: parameter('<member>', 'the member', anyId),
    workspaceId: workspaceOption,
    name: { ...name, schema: name.schema.optional() },
    email: { ...email, schema: email.schema.optional() },
    role: { ...role, schema: role.schema.optional() },
    seatType: { ...seatType, schema: seatType.schema.optional() },
    groupIds: {
      ...groupIds,
      means: 'a group that they are in from now on, instead of all others; may be repeated',
      schema: groupIds.schema.optional(),
      clears: 'in no group from now on',
    },
    invitation: { ...invitation, schema: invitation.schema.optional() },
  },
  run: async ({ app }, { workspaceId, id, ...change }) =>
    told(
      await app.members.update(workspaceId, id, change),
      'up to date',
      change.email === undefined ? undefined : app.members.iterate(workspaceId),
    ),
});

const memberColumns: readonly Column<Member>[] = [
  ['ID', ({ id }) => id],
  ['NAME', (member) => member.name],
  ['EMAIL', (member) => member.email],
  ['ROLE', (member) => member.role],
  ['SEAT', (member) => member.seatType],
  ['INVITATION', (member) => member.invitation],
  ['GROUPS', (member) => member.groupIds.join(' ')],
];

export const listMembers = command({
  name: 'member list',
  does: 'list the members of a workspace',
  example: 'member list --workspace 0190…',
  parameters: { workspaceId: workspaceOption },
  run: async ({ app }, { workspaceId }) =>
    listed(app.members.iterate(workspaceId), memberFields, memberColumns, 'The workspace has no members yet.'),
});

const keyFields = [
  'id',
  'workspaceId',
  'label',
  'lastFour',
  'memberId',
  'access',
  'createdAt',
  'expiresAt',
  'revokedAt',
  'lastUsedAt',
] as const satisfies (keyof ApiKey)[];

export const createKey = command({
  name: 'key create',
  does: 'make an API key, of a member or of nobody',
  more:
    'The key is shown this once: only its hash is kept. One of no member has its access alone, and shares nothing. ' +
    'The end must be in the future.',
  example: 'key create --workspace 0190… --member 0191… --label laptop',
  parameters: {
    workspaceId: workspaceOption,
    memberId: parameter('--member <id>', 'the member whose key it is', anyId.optional()),
    label: parameter('--label <text>', 'what you know it by', text(KEY_LABEL).default('')),
    access: parameter('--access <access>', 'what it lets its holder do at most', z.enum(ACCESS).default('full')),
    expiresAt: parameter(
      '--expires-at <date>',
      'when it ends, as 2026-12-31 or 2026-12-31T18:00:00Z',
      endDate.optional(),
    ),
  },
  run: async ({ app }, { workspaceId, expiresAt, ...key }) => {
    const ends = expiresAt === undefined ? undefined : timestamp(endOf(expiresAt) as number);
    const { apiKey, secret } = await app.apiKeys.create(workspaceId, { ...key, expiresAt: ends });
    return {
      json: { ...picked(apiKey, keyFields), key: secret },
      says: `The key ${apiKey.id} is made. It is shown this once, so keep it now:\n\n  ${secret}\n`,
    };
  },
});

const keyColumns: readonly Column<ApiKey>[] = [
  ['ID', ({ id }) => id],
  ['LABEL', ({ label }) => label],
  ['KEY', ({ lastFour }) => `…${lastFour}`],
  ['MEMBER', ({ memberId }) => memberId ?? '-'],
  ['ACCESS', ({ access }) => access],
  ['LAST USED', ({ lastUsedAt }) => lastUsedAt ?? 'never'],
  ['ENDS', ({ revokedAt, expiresAt }) => (revokedAt ? `revoked ${revokedAt}` : (expiresAt ?? '-'))],
];

export const listKeys = command({
  name: 'key list',
  does: 'list the API keys of a workspace: labels, last four characters, last use',
  example: 'key list --workspace 0190…',
  parameters: { workspaceId: workspaceOption },
  run: async ({ app }, { workspaceId }) =>
    listed(app.apiKeys.iterate(workspaceId), keyFields, keyColumns, 'The workspace has no keys yet.'),
});

export const revokeKey = command({
  name: 'key revoke',
  does: 'end an API key for good, everywhere within five seconds',
  example: 'key revoke --workspace 0190… 0192…',
  parameters: { id: parameter('<key>', 'the key, by its id', anyId), workspaceId: workspaceOption },
  run: async ({ app }, { workspaceId, id }) => {
    const key = await app.apiKeys.revoke(workspaceId, id);
    return {
      json: picked(key, keyFields),
      says: `The key …${key.lastFour} (${key.id}) is revoked since ${key.revokedAt}.`,
    };
  },
});
