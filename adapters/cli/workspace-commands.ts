import { domainToASCII } from 'node:url';
import { validate as isUuid } from 'uuid';
import { z } from 'zod';
import type { Application } from '../../core/application.ts';
import { normalizeSlug } from '../../core/domain/domain.ts';
import { NAME_LENGTH } from '../../core/limits.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import { text } from '../api/fields.ts';
import type { Operation } from '../api/operation.ts';
import { operations } from '../api/operations.ts';
import { replaceControlCharacters } from '../logging/terminal-text.ts';
import { type Command, defineCommand, INTERRUPTED_EXIT_CODE } from './command.ts';
import { formatCount } from './format-count.ts';
import { createResult, SECRET_WARNING } from './operation-command.ts';
import { createRecordResult } from './output.ts';
import { findWorkspace, workspaceField } from './target.ts';

/** The number of workspaces that are printed at a time. */
const PAGE_SIZE = 1_000;

/** The commands for workspaces. */
export const workspaceCommands: readonly Command[] = [
  defineCommand({
    name: 'workspace create',
    summary: 'Create a workspace',
    details: ['With --with-key, also creates an API key without a member, for the first requests over HTTP.'],
    example: ["--name 'Northwind Outdoor'", '--with-key'],
    createsDatabase: true,
    fields: z.strictObject({
      name: text(NAME_LENGTH).describe('The name of the workspace.'),
      withKey: z.boolean().default(false).describe('Also create an API key with full access, and print it.'),
    }),
    run: async ({ app }, { name, withKey }) => {
      const workspace = await app.workspaces.create(name);
      const written = { workspaceId: workspace.id, recordId: workspace.id };
      if (!withKey) return { ...createRecordResult(workspace), written };
      const { secret } = await app.apiKeys.create(workspace.id, {});
      return { ...createRecordResult({ ...workspace, key: secret }), warning: SECRET_WARNING, written };
    },
  }),

  defineCommand({
    name: 'workspace list',
    summary: 'List all workspaces',
    example: [],
    fields: z.strictObject({}),
    run: async ({ app }) => ({ pages: listWorkspaces(app), columns: ['id', 'name', 'createdAt'] }),
  }),

  defineCommand({
    name: 'workspace delete',
    summary: 'Delete a workspace with all of its records',
    details: [
      'Servers can run meanwhile: they reject the API keys of the workspace within five seconds.',
      'If the deletion is interrupted, repeat the command.',
    ],
    example: ['--workspace Contoso', '--yes'],
    handlesInterrupt: true,
    fields: z.strictObject({
      workspace: z.string().describe('The workspace: its ID or its exact name.'),
      yes: z.literal(true, 'is required, because the deletion is permanent').describe('Confirm the deletion.'),
    }),
    run: async ({ app, storageTools, signal, progress }, { workspace }) => {
      const { id: workspaceId, name } = await findWorkspace(app, workspace);
      const control = { signal, onProgress: progress.showRecords.bind(progress) };
      const { isComplete, deletedCount } = await storageTools.deleteWorkspace(workspaceId, control);
      const count = formatCount(deletedCount, 'record');
      const message = isComplete
        ? `Deleted the workspace ${replaceControlCharacters(name)} with ${count}.`
        : `Stopped after ${count}. To continue, repeat the command.`;
      const json = { id: workspaceId, ended: isComplete ? 'done' : 'stopped', deletedCount };
      const written = { workspaceId, recordId: workspaceId };
      return { json, message, written, exitCode: isComplete ? 0 : INTERRUPTED_EXIT_CODE };
    },
  }),
];

async function* listWorkspaces(app: Application): AsyncGenerator<string> {
  let page: Workspace[] = [];
  for await (const workspace of app.workspaces.iterate()) {
    if (page.push(workspace) < PAGE_SIZE) continue;
    yield JSON.stringify(page);
    page = [];
  }
  yield JSON.stringify(page);
}

const getDomain = operations.find(({ command }) => command === 'domain get') as Operation;

export const markVerifiedCommand = defineCommand({
  name: 'domain mark-verified',
  summary: 'Mark a domain as verified without DNS',
  details: ['Not allowed if another workspace has verified the name in a domain that is not archived.'],
  example: ['go.northwind.example', '--workspace Northwind'],
  arguments: ['domain'],
  fields: z.strictObject({ domain: z.string().describe('The ID or slug.'), workspace: workspaceField }),
  run: async ({ app }, { domain, workspace }) => {
    const { id: workspaceId } = await findWorkspace(app, workspace);
    const slug = normalizeSlug(domain, domainToASCII) ?? '';
    const id = isUuid(domain) ? domain.toLowerCase() : (await app.domains.getBySlug(workspaceId, slug)).id;
    await app.domains.markVerified(workspaceId, id);
    const caller = { workspaceId, access: 'full' } as const;
    const result = await getDomain.prepare({}, undefined)(app, caller, id);
    return createResult(getDomain, { ...result, recordId: id }, caller);
  },
});
