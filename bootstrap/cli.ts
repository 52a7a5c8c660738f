#!/usr/bin/env node
import { version } from '../adapters/api/version.ts';
import { runCommandLine } from '../adapters/cli/run-command-line.ts';
import { openApplication } from './open-application.ts';

const { stdin, stdout, stderr, env } = process;
let isServing = false;

const exitCode = await runCommandLine(process.argv.slice(2), {
  version,
  stdin,
  stdout,
  stderr,
  openApplication: (command) => openApplication(env, stderr, command),
  async serve() {
    const { runServer } = await import('./run-server.ts');
    await runServer(env);
    isServing = true;
  },
  onInterrupt(stop) {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  },
});
if (!isServing) stderr.write('', () => process.exit(exitCode));
