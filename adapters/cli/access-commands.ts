import { z } from 'zod';
import { ACCESS } from '../../core/access/permissions.ts';
import { API_KEY_LABEL_LENGTH } from '../../core/limits.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import { endDate, id, text } from '../api/fields.ts';
import { type Command, type CommandContext, defineCommand, type MessageResult } from './command.ts';
import { createRecordResult } from './output.ts';
import { findWorkspace, workspaceField } from './target.ts';

const listFields = z.strictObject({ workspace: workspaceField });
const idArgument = z.string().describe('The ID of the record.');

/** The commands for API keys. */
export const accessCommands: readonly Command[] = [
  defineCommand({
    name: 'key create',
    summary: 'Create an API key',
    details: ['The key is shown only once, because only its hash is stored.'],
    example: ['--member-id 0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e0a', '--label Intranet'],
    fields: z.strictObject({
      label: text(API_KEY_LABEL_LENGTH).default('').describe('A label to recognize the key by.'),
      memberId: id.optional().describe('The ID of the member who uses the key.'),
      access: z.enum(ACCESS).default('full').describe('The access level.'),
      expiresAt: endDate.optional().describe('The future date or time when the key expires.'),
      workspace: workspaceField,
    }),
    run: async (context, { workspace, expiresAt, ...key }) => {
      const expiry = expiresAt === undefined ? undefined : formatTimestamp(expiresAt.time);
      return write(context, workspace, async (workspaceId) => {
        const { apiKey, secret } = await context.app.apiKeys.create(workspaceId, { ...key, expiresAt: expiry });
        const { hash: _, ...shown } = apiKey;
        return { ...shown, key: secret };
      });
    },
  }),
  defineCommand({
    name: 'key list',
    summary: 'List API keys',
    example: [],
    fields: listFields,
    run: async ({ app }, { workspace }) => ({
      pages: toPages(app.apiKeys.iterate((await findWorkspace(app, workspace)).id)),
      columns: ['id', 'label', 'lastFour', 'memberId', 'access', 'lastUsedAt', 'expiresAt', 'revokedAt'],
    }),
  }),
  defineCommand({
    name: 'key delete',
    summary: 'Revoke an API key',
    example: ['0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e0b'],
    arguments: ['id'],
    fields: z.strictObject({ id: idArgument, workspace: workspaceField }),
    run: (context, { id: keyId, workspace }) =>
      write(context, workspace, async (workspaceId) => ({
        id: (await context.app.apiKeys.revoke(workspaceId, keyId.toLowerCase())).id,
      })),
  }),
];

async function write(
  { app }: CommandContext,
  workspace: string | undefined,
  work: (workspaceId: string) => Promise<{ readonly id: string }>,
): Promise<MessageResult> {
  const { id: workspaceId } = await findWorkspace(app, workspace);
  const record = await work(workspaceId);
  return { ...createRecordResult(record), written: { workspaceId, recordId: record.id } };
}

async function* toPages(records: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const record of records) yield JSON.stringify([{ ...record, hash: undefined }]);
}
