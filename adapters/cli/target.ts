import { validate as isUuid } from 'uuid';
import { z } from 'zod';
import type { Application } from '../../core/application.ts';
import type { Member } from '../../core/member/member.ts';
import { fold } from '../../core/shared/text.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import { UsageError } from './usage-error.ts';

export const workspaceField = z
  .string()
  .optional()
  .describe('The workspace: its ID or its exact name. Can be omitted if there is only one.');
export const actorField = z
  .string()
  .optional()
  .describe(
    'The member to act as: their ID or email address. By default, the command acts as the operator, with full access and without a member.',
  );

const MAX_NAMED_COUNT = 5;

/** Finds the workspace of a command. Throws a `UsageError` if there is none, or more than one. */
export async function findWorkspace(app: Application, idOrName: string | undefined): Promise<Workspace> {
  const all: Workspace[] = [];
  const named: Workspace[] = [];
  for await (const workspace of app.workspaces.iterate()) {
    if (workspace.id === idOrName?.toLowerCase()) return workspace;
    if (workspace.name === idOrName) named.push(workspace);
    if (all.length <= MAX_NAMED_COUNT) all.push(workspace);
  }
  const [workspace, ...others] = idOrName === undefined ? all : named;
  if (workspace && others.length === 0) return workspace;
  if (all.length === 0) {
    throw new UsageError(['--workspace: no workspace exists. Create one with `advocacy workspace create`.']);
  }
  if (workspace && idOrName !== undefined) {
    throw new UsageError([
      `--workspace: ${named.length} workspaces have this name. Use an ID: ${list(named.map(({ id }) => id))}`,
    ]);
  }
  const problem = idOrName === undefined ? 'required, because there are several' : 'no workspace has this ID or name';
  throw new UsageError([`--workspace: ${problem}. Workspaces: ${list(all.map(({ name }) => name))}`]);
}

/** Finds the member that a command acts as. Throws a `UsageError` if there is none, or more than one. */
export async function findActor(app: Application, workspaceId: string, idOrEmail: string): Promise<Member> {
  const found: Member[] = [];
  for await (const member of app.members.iterate(workspaceId)) {
    if (isUuid(idOrEmail) ? member.id === idOrEmail.toLowerCase() : fold(member.email) === fold(idOrEmail))
      found.push(member);
  }
  const [member, ...others] = found;
  if (!member) throw new UsageError(['--as: no member of the workspace has this ID or email address']);
  if (others.length === 0) return member;
  throw new UsageError([
    `--as: ${found.length} members have this email address. Use an ID: ${list(found.map(({ id }) => id))}`,
  ]);
}

function list(texts: readonly string[]): string {
  return `${texts.slice(0, MAX_NAMED_COUNT).join(', ')}${texts.length > MAX_NAMED_COUNT ? ', …' : '.'}`;
}
