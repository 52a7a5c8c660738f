import { accessCommands } from './access-commands.ts';
import type { Command } from './command.ts';
import { importCommand } from './import.ts';
import { recordCommands } from './record-commands.ts';
import { storageCommands } from './storage-commands.ts';

/** All commands, in the order of the help and of docs/command-line.md. */
export const commands: readonly Command[] = [...accessCommands, ...recordCommands, importCommand, ...storageCommands];

/** The summaries of parent commands, such as `member`, which has the subcommand `member create`. */
export const parentCommands: Readonly<Record<string, string>> = {
  workspace: 'create and list workspaces',
  member: 'create, update and list members',
  key: 'create, list and revoke API keys',
  group: 'list groups',
  tag: 'list tags',
  pillar: 'create and list content pillars',
  domain: 'verify and list domains',
  campaign: 'list, publish and archive campaigns',
  share: 'record shares',
};

/** The command that starts the server. It is not in `commands`, because it does not open the storage first. */
export const serveCommand = {
  name: 'serve',
  summary: 'start the server',
  details: 'Unlike the other commands, it also works with STORAGE=memory.',
  example: 'serve',
};
