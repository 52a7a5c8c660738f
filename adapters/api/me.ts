import { z } from 'zod';
import { createInvalidKeyError } from '../../core/access/api-key-service.ts';
import type { Caller } from '../../core/access/permissions.ts';
import type { Application } from '../../core/application.ts';
import { NAME_LENGTH } from '../../core/limits.ts';
import type { MemberView } from '../../core/member/member-service.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import * as field from './fields.ts';
import { keyFields } from './key.ts';
import { exampleMember, memberResponse } from './member.ts';
import { defineOperation } from './operation.ts';

const meResponse = z
  .object({
    workspace: z
      .object({ id: field.recordId, name: field.responseText(NAME_LENGTH).describe('The name.') })
      .describe('The workspace that the API key belongs to.'),
    member: memberResponse
      .omit({ createdAt: true, updatedAt: true })
      .nullable()
      .describe('The member that the API key belongs to, or `null` if the key does not belong to a member.'),
    key: keyFields
      .pick({ id: true, label: true, access: true, expiresAt: true })
      .describe('The API key, without its secret.'),
  })
  .meta({ id: 'Me', description: 'The workspace, the member and the API key of a request.' });

const { createdAt: _, updatedAt: __, ...member } = exampleMember;
const example = {
  response: {
    workspace: { id: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e0f', name: 'Northwind' },
    member,
    key: {
      id: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e0b',
      label: 'Intranet',
      access: 'full',
      expiresAt: '2027-05-20T00:00:00.000Z',
    },
  },
} as const;

const getMe = defineOperation({
  id: 'getMe',
  method: 'GET',
  path: '/me',
  command: 'me',
  summary: 'Retrieve the caller',
  description: ['Returns the workspace, the member and the API key of the request.'],
  response: meResponse,
  example,
  run: (app, { caller }) =>
    describeCaller(app, caller, caller.member && app.members.get(caller.workspaceId, caller.member.id)),
});

const acceptInvitation = defineOperation({
  id: 'acceptInvitation',
  method: 'POST',
  path: '/me/accept',
  permission: 'accept',
  summary: 'Accept an invitation',
  description: [
    "Accepts the pending invitation of the API key's member.",
    'An accepted invitation is unchanged.',
    'An invitation that has expired cannot be accepted (410).',
  ],
  statuses: [200],
  response: meResponse,
  example,
  run: async (app, { caller }) => {
    const { workspaceId, member: invited } = caller;
    return {
      ...(await describeCaller(app, caller, app.members.accept(workspaceId, invited.id))),
      id: invited.id,
    };
  },
});

/**
 * Describes a caller. Callers are cached for some seconds. If the member or the workspace has been deleted meanwhile,
 * rejects with `unauthenticated`.
 */
async function describeCaller(app: Application, { workspaceId, keyId }: Caller, view?: Promise<MemberView>) {
  try {
    const member = (await view) ?? null;
    const [workspace, key] = await Promise.all([
      app.workspaces.get(workspaceId),
      // The operator on the command line has no key, so there it is `null`. In the API, each caller has one.
      keyId === undefined ? (null as never) : app.apiKeys.get(workspaceId, keyId),
    ]);
    return { workspace, member, key };
  } catch (error) {
    throw error instanceof CoreError && error.kind === 'not_found' ? createInvalidKeyError() : error;
  }
}

export const callerOperations = [getMe, acceptInvitation];
