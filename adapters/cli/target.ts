import { z } from 'zod';
import type { Application } from '../../core/application.ts';
import type { InvitedMember } from '../../core/member/member.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import { UsageError } from './usage-error.ts';

const optionalText = z.string().optional();
export const workspaceField = optionalText.describe(
  'The workspace: its ID or exact name. Optional if there is only one.',
);
export const actorField = optionalText.describe(
  'The member to act as: their ID or email address. By default, the operator, with full access and without a member.',
);

const MAX_SHOWN_COUNT = 5;

/** Finds the workspace of a command. Throws a `UsageError` if there is none, or more than one. */
export async function findWorkspace(app: Application, idOrName: string | undefined): Promise<Workspace> {
  const found: Workspace[] = [];
  for await (const workspace of app.workspaces.iterate()) {
    if (workspace.id === idOrName?.toLowerCase()) return workspace;
    if (idOrName === undefined || workspace.name === idOrName) found.push(workspace);
  }
  const [workspace, ...others] = found;
  if (workspace && others.length === 0) return workspace;
  const shown = found.slice(0, MAX_SHOWN_COUNT).map(({ id, name }) => `${id} (${name})`);
  const problem = workspace
    ? `there are ${found.length}, use one of their IDs: ${shown.join(', ')}${others.length < MAX_SHOWN_COUNT ? '' : ', …'}`
    : idOrName === undefined
      ? 'no workspace exists, create one with `advocacy workspace create`'
      : 'no workspace has this ID or name, list them with `advocacy workspace list`';
  throw new UsageError([`--workspace: ${problem}`]);
}

/** Finds the member that a command acts as. Throws a `UsageError` if there is none. */
export async function findActor(app: Application, workspaceId: string, idOrEmail: string): Promise<InvitedMember> {
  const member = await app.members.find(workspaceId, idOrEmail);
  if (!member) throw new UsageError(['--as: no member has this ID or email address']);
  return member;
}
