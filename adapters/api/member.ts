import { z } from 'zod';
import {
  DEFAULT_INVITATION_DAYS,
  EMAIL_LENGTH,
  MAX_INVITATION_DAYS,
  MAX_ITEM_COUNT,
  NAME_LENGTH,
} from '../../core/limits.ts';
import { findEmailProblem, INVITATION_STATUSES, ROLES } from '../../core/member/member.ts';
import { SEAT_TYPES } from '../../core/shared/seat-type.ts';
import * as field from './fields.ts';
import { defineOperation } from './operation.ts';
import { defineDelete, describeResource, UPDATE } from './record-operations.ts';

const ROLE =
  'The role. `admin`: can also create, change and delete records. `member`: can only read, and share campaigns.';

const memberFields = z.strictObject({
  name: field.text(NAME_LENGTH).describe('The name.'),
  email: field
    .text(EMAIL_LENGTH, findEmailProblem)
    .meta({ pattern: '^\\s*[^\\s@\\u0000]+@[^\\s@\\u0000]+\\s*$', examples: ['ada@northwind.example'] })
    .describe('The email address, unique in the workspace (case-insensitive).'),
  role: z.enum(ROLES).describe(`${ROLE} Default on creation: \`member\`.`),
  seatType: z.enum(SEAT_TYPES).describe('The seat type. Default on creation: `advocate`.'),
  groups: field.ids.describe(
    `The IDs of up to ${MAX_ITEM_COUNT} groups of the workspace. Duplicates are dropped. Default on creation: empty.`,
  ),
  invitation: z.enum(['pending', 'accepted']).describe('The invitation. Default: `pending`.'),
  invitationExpiresAt: field.endDate.describe(
    `When a pending invitation expires: a date or time in the future, at most ${MAX_INVITATION_DAYS} days ahead. By default, ${DEFAULT_INVITATION_DAYS} days after it was created or renewed.`,
  ),
});

export const memberResponse = z
  .object({
    id: field.recordId,
    name: field.responseText(NAME_LENGTH).describe('The name.'),
    email: field.responseText(EMAIL_LENGTH).describe('The email address.'),
    role: z.enum(ROLES).describe(ROLE),
    seatType: z.enum(SEAT_TYPES).describe('The seat type.'),
    groups: z
      .array(field.recordId)
      .max(MAX_ITEM_COUNT)
      .readonly()
      .describe('The IDs of the groups of the member. Deleted groups are omitted.'),
    invitation: z
      .enum(INVITATION_STATUSES)
      .describe('The invitation. Keys of a member with a `pending` or `expired` invitation cannot read or write.'),
    invitationExpiresAt: field.timestampOrNull.describe(
      'The time at which the invitation expires or has expired, in UTC, or `null` if it is accepted.',
    ),
    createdAt: field.createdAt,
    updatedAt: field.updatedAt,
  })
  .meta({ id: 'Member', description: 'A person who belongs to the workspace.' });

const UNIQUE_EMAIL = [
  'The email address must be unique in the workspace (409 otherwise).',
  'Addresses are compared case-insensitively.',
];
const ADMIN_LEFT = 'If the workspace has admins with an accepted invitation, one of them must remain (409 otherwise).';
export const exampleMember = {
  id: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e0a',
  name: 'Ada Pereira',
  email: 'ada@northwind.example',
  role: 'admin',
  seatType: 'thought_leader',
  groups: ['0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e04'],
  invitation: 'accepted',
  invitationExpiresAt: null,
  createdAt: '2026-05-20T08:15:00.000Z',
  updatedAt: '2026-05-20T08:15:00.000Z',
} as const;

const members = describeResource('member', '/members', memberResponse, exampleMember);
const { name, email, role, seatType } = exampleMember;

const createMember = defineOperation({
  ...members.create,
  description: [
    'Creates a member with a pending or an accepted invitation.',
    'The member accepts a pending invitation with an API key of their own (`POST /me/accept`).',
    ...UNIQUE_EMAIL,
  ],
  body: memberFields
    .partial()
    .required({ name: true, email: true })
    .meta({ id: 'CreateMember', description: 'A member to create.' }),
  example: {
    body: { name, email, role, seatType },
    response: { ...exampleMember, groups: [], invitation: 'pending', invitationExpiresAt: '2026-06-03T08:15:00.000Z' },
  },
  run: (app, { caller, body }) => app.members.create(caller.workspaceId, body),
});

const listMembers = defineOperation({
  ...members.list,
  permission: 'inspect',
  columns: ['id', 'name', 'email', 'role', 'seatType', 'invitation'],
  description: ['Returns the members that match all filters, by default all members.'],
  query: z.strictObject({
    ...field.nameListParameters,
    search: field.searchParameter.describe('Case-insensitive search in name and email address.'),
    role: field.enumParameter(ROLES).describe('Only members with this role.'),
    seatType: field.enumParameter(SEAT_TYPES).describe('Only members with this seat type.'),
    groupIds: field.idListParameter('Only members of at least one of these groups.'),
    invitation: field.enumParameter(INVITATION_STATUSES).describe('Only members with an invitation in this status.'),
  }),
  run: (app, { caller, query }) => app.members.list(caller.workspaceId, query),
});

const getMember = defineOperation({
  ...members.get,
  permission: 'inspect',
  run: (app, { caller, params }) => app.members.get(caller.workspaceId, params.id),
});

const updateMember = defineOperation({
  ...members.update,
  description: [
    ...UPDATE,
    ...UNIQUE_EMAIL,
    'A new role, new groups and a new invitation status count for the keys of the member within 5 seconds.',
    `\`invitation\` renews (\`pending\`, for ${DEFAULT_INVITATION_DAYS} days or until \`invitationExpiresAt\`), ends (\`expired\`) or accepts (\`accepted\`) an invitation.`,
    'An accepted invitation cannot get another status (409 otherwise).',
    ADMIN_LEFT,
  ],
  body: memberFields
    .extend({
      role: z.enum(ROLES).describe(`${ROLE} The last admin with an accepted invitation cannot get another role (409).`),
      invitation: z.enum(INVITATION_STATUSES).describe('The new status of the invitation. `pending` always renews it.'),
    })
    .partial()
    .meta({ id: 'UpdateMember', description: 'The fields of a member to update.' }),
  example: {
    body: { seatType: 'advocate' },
    response: { ...exampleMember, seatType: 'advocate', updatedAt: '2026-05-21T10:00:00.000Z' },
  },
  run: (app, { caller, params, body }) => app.members.update(caller.workspaceId, params.id, body),
});

const deleteMember = defineDelete({
  ...members.delete,
  description: [
    ...members.delete.description,
    'Also revokes all API keys of the member.',
    'Shares, clicks and campaigns of the member are kept with the ID of the member.',
    'The short links of the member still redirect and count clicks.',
    'The name and the email address are erased, except in stored responses for 24 hours (`Idempotency-Key`).',
    ADMIN_LEFT,
  ],
  run: (app, { caller, params }) => app.members.remove(caller.workspaceId, params.id),
});

export const memberOperations = [createMember, listMembers, getMember, updateMember, deleteMember];
