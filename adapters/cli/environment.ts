import type { Readable } from 'node:stream';
import type { Command, CommandContext } from './command.ts';
import type { TerminalStream } from './terminal-stream.ts';

/** The application with its storage open. */
export interface OpenedApplication extends Omit<CommandContext, 'signal' | 'stdin' | 'progress'> {
  close(): Promise<void>;
}

/** The parts of a process that the command line uses. */
export interface CommandLineEnvironment {
  readonly version: string;
  readonly stdin: Readable;
  readonly stdout: TerminalStream;
  readonly stderr: TerminalStream;
  /**
   * Opens the configured storage. Rejects if the settings are invalid, or if the database is
   * unavailable, or is missing and the command must not create it.
   */
  openApplication(command: Command): Promise<OpenedApplication>;
  /** Starts the server. Rejects if the settings are invalid or the server cannot start. */
  serve(): Promise<void>;
  /** Calls `stop` on SIGINT (Ctrl-C) and SIGTERM, instead of ending the process. */
  onInterrupt(stop: () => void): void;
}
