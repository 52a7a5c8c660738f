import { operations } from '../api/operations.ts';
import type { Command } from './command.ts';
import { importCommand } from './import.ts';
import { createOperationCommand } from './operation-command.ts';
import { storageCommands } from './storage-commands.ts';
import { markVerifiedCommand, workspaceCommands } from './workspace-commands.ts';

/** All commands except `serve`, in the order of the help. Each operation that names a command has one. */
export const commands: readonly Command[] = [
  ...workspaceCommands,
  ...operations.filter(({ command }) => command).map(createOperationCommand),
  markVerifiedCommand,
  importCommand,
  ...storageCommands,
];
