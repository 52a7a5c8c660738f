import type { Operation } from '../api/operation.ts';
import { operations } from '../api/operations.ts';
import { accessCommands } from './access-commands.ts';
import type { Command } from './command.ts';
import { importCommand } from './import.ts';
import { createOperationCommand } from './operation-command.ts';
import { storageCommands } from './storage-commands.ts';
import { workspaceCommands } from './workspace-commands.ts';

const hasCommand = (operation: Operation): operation is Operation & { readonly command: string } =>
  operation.command !== undefined;

/** All commands except `serve`, in the order of the help. Each operation that names a command has one. */
export const commands: readonly Command[] = [
  ...workspaceCommands,
  ...accessCommands,
  ...operations.filter(hasCommand).map(createOperationCommand),
  importCommand,
  ...storageCommands,
];
