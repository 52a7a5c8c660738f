import { z } from 'zod';
import { API_KEY_LABEL_LENGTH, type ApiKey } from '../../core/access/api-key.ts';
import { ACCESS } from '../../core/access/permissions.ts';
import {
  EMAIL_LENGTH,
  findEmailProblem,
  INVITATION_STATUSES,
  MEMBER_DEFAULTS,
  type Member,
  ROLES,
} from '../../core/member/member.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import { NAME_LENGTH } from '../../core/shared/name.ts';
import { SEAT_TYPES } from '../../core/shared/seat-type.ts';
import { errors } from '../api/errors.ts';
import { endDate, text } from '../api/fields.ts';
import { replaceControlCharacters } from '../logging/terminal-text.ts';
import {
  type Command,
  createTableResult,
  defineCommand,
  defineListCommand,
  defineParameter,
  idSchema,
  type MessageResult,
  pickFields,
  workspaceOption,
} from './command.ts';

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

const memberNameOption = defineParameter('--name <name>', 'name of the member', text(NAME_LENGTH));
const emailOption = defineParameter(
  '--email <address>',
  'email address of the member',
  text(EMAIL_LENGTH, findEmailProblem),
);
const roleOption = defineParameter(
  '--role <role>',
  'role in the API: "admin" can read and write, "member" can read and share',
  z.enum(ROLES),
);
const seatTypeOption = defineParameter('--seat-type <type>', 'seat type of the member', z.enum(SEAT_TYPES));
const distinctIdsSchema = z
  .array(z.union([z.literal(''), idSchema]))
  .transform((ids) => [...new Set(ids)].filter((id) => id !== ''));
const groupOption = defineParameter('--group <id>', 'ID of a group of the member (repeatable)', distinctIdsSchema, {
  isRepeatable: true,
});
const invitationOption = defineParameter(
  '--invitation <state>',
  `state of the invitation: the API rejects the keys of a member whose invitation is pending (${errors.forbidden.status}) or expired (${errors.invite_expired.status})`,
  z.enum(INVITATION_STATUSES),
);

function createMemberResult(member: Member, outcome: string): MessageResult {
  return {
    json: member,
    message: `The ${member.role} ${replaceControlCharacters(member.name)} ${outcome}: ${member.id}`,
  };
}

/** The commands for workspaces, members and API keys. */
export const accessCommands: readonly Command[] = [
  defineCommand({
    name: 'workspace create',
    summary: 'create a workspace',
    example: 'workspace create --name "Northwind Outdoor"',
    createsDatabase: true,
    parameters: { name: defineParameter('--name <name>', 'name of the workspace', text(NAME_LENGTH)) },
    run: async ({ app }, { name }) => {
      const workspace = await app.workspaces.create(name);
      return {
        json: workspace,
        message: `The workspace ${replaceControlCharacters(workspace.name)} was created: ${workspace.id}`,
      };
    },
  }),

  defineCommand({
    name: 'workspace list',
    summary: 'list all workspaces',
    example: 'workspace list',
    parameters: {},
    run: async ({ app }) =>
      createTableResult(app.workspaces.iterate(), {
        columns: { ID: 'id', NAME: 'name', CREATED: 'createdAt' },
        emptyMessage: 'No workspace exists yet. Create one with `advocacy workspace create`.',
      }),
  }),

  defineCommand({
    name: 'member create',
    summary: 'create a member of a workspace',
    example: 'member create --workspace 0190… --name "Ada Winter" --email ada@example.com --role admin',
    parameters: {
      workspaceId: workspaceOption,
      name: memberNameOption,
      email: emailOption,
      role: { ...roleOption, schema: roleOption.schema.default(MEMBER_DEFAULTS.role) },
      seatType: { ...seatTypeOption, schema: seatTypeOption.schema.default(MEMBER_DEFAULTS.seatType) },
      groupIds: { ...groupOption, schema: groupOption.schema.optional() },
      invitation: { ...invitationOption, schema: invitationOption.schema.default(MEMBER_DEFAULTS.invitation) },
    },
    run: async ({ app }, { workspaceId, ...member }) =>
      createMemberResult(await app.members.create(workspaceId, member), 'was created'),
  }),

  defineCommand({
    name: 'member update',
    summary: 'update a member',
    details: 'Omitted options leave their values unchanged.',
    example: 'member update --workspace 0190… 0191… --invitation expired',
    parameters: {
      id: defineParameter('<member>', 'ID of the member', idSchema),
      workspaceId: workspaceOption,
      name: { ...memberNameOption, schema: memberNameOption.schema.optional() },
      email: { ...emailOption, schema: emailOption.schema.optional() },
      role: { ...roleOption, schema: roleOption.schema.optional() },
      seatType: { ...seatTypeOption, schema: seatTypeOption.schema.optional() },
      groupIds: {
        ...groupOption,
        description:
          'ID of a group of the member (repeatable): the given groups replace all current groups, --group= removes all',
        schema: groupOption.schema.optional(),
      },
      invitation: { ...invitationOption, schema: invitationOption.schema.optional() },
    },
    run: async ({ app }, { workspaceId, id, ...change }) =>
      createMemberResult(await app.members.update(workspaceId, id, change), 'was updated'),
  }),

  defineListCommand({
    name: 'member list',
    summary: 'list the members of a workspace',
    iterate: (app, workspaceId) => app.members.iterate(workspaceId),
    columns: {
      ID: 'id',
      NAME: 'name',
      EMAIL: 'email',
      ROLE: 'role',
      SEAT: 'seatType',
      INVITATION: 'invitation',
      GROUPS: 'groupIds',
    },
    emptyMessage: 'The workspace has no members yet.',
  }),

  defineCommand({
    name: 'key create',
    summary: 'create an API key',
    details:
      'The key is shown only once, because only its hash is stored. A key without a member can do ' +
      'everything that its access level allows, except share campaigns and create content pillars.',
    example: 'key create --workspace 0190… --member 0191… --label laptop',
    parameters: {
      workspaceId: workspaceOption,
      memberId: defineParameter('--member <id>', 'ID of the member who uses the key', idSchema.optional()),
      label: defineParameter('--label <text>', 'label to recognize the key by', text(API_KEY_LABEL_LENGTH).default('')),
      access: defineParameter(
        '--access <access>',
        'access level: full, or read for read-only access',
        z.enum(ACCESS).default('full'),
      ),
      expiresAt: defineParameter(
        '--expires-at <date>',
        'future date or time when the key expires, such as 2026-12-31 or 2026-12-31T18:00:00Z',
        endDate.optional(),
      ),
    },
    run: async ({ app }, { workspaceId, expiresAt, ...key }) => {
      const expiry = expiresAt === undefined ? undefined : formatTimestamp(expiresAt.time);
      const { apiKey, secret } = await app.apiKeys.create(workspaceId, { ...key, expiresAt: expiry });
      return {
        json: { ...pickFields(apiKey, keyFields), key: secret },
        message: `The API key ${apiKey.id} was created. Store the key now, because it is shown only once:\n\n  ${secret}\n`,
      };
    },
  }),

  defineListCommand({
    name: 'key list',
    summary: 'list the API keys of a workspace',
    iterate: (app, workspaceId) => app.apiKeys.iterate(workspaceId),
    fields: keyFields,
    columns: {
      ID: 'id',
      LABEL: 'label',
      KEY: ({ lastFour }) => `…${lastFour}`,
      MEMBER: 'memberId',
      ACCESS: 'access',
      'LAST USED': ({ lastUsedAt }) => lastUsedAt ?? 'never',
      ENDS: ({ revokedAt, expiresAt }) => (revokedAt ? `revoked ${revokedAt}` : (expiresAt ?? '-')),
    },
    emptyMessage: 'The workspace has no keys yet.',
  }),

  defineCommand({
    name: 'key revoke',
    summary: 'revoke an API key',
    details: 'All servers reject the key within five seconds. A revoked key cannot be restored.',
    example: 'key revoke --workspace 0190… 0192…',
    parameters: { id: defineParameter('<key>', 'ID of the API key', idSchema), workspaceId: workspaceOption },
    run: async ({ app }, { workspaceId, id }) => {
      const key = await app.apiKeys.revoke(workspaceId, id);
      return {
        json: pickFields(key, keyFields),
        message: `The key …${key.lastFour} (${key.id}) was revoked at ${key.revokedAt}.`,
      };
    },
  }),
];
