import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createDemo } from '../../bootstrap/demo.ts';
import { withDatabaseName } from './mongod.ts';
import { startReplicaSet } from './replica-set.ts';
import { withApplication } from './storage.ts';

/**
 * Runs a command with the settings of a new MongoDB that has the demo workspace. The variable `KEY` is an API key of that
 * workspace. Usage: `node with-mongodb.js COMMAND ARGUMENT…`.
 */
const [command = '', ...args] = process.argv.slice(2);
const server = await startReplicaSet();
try {
  const uri = withDatabaseName(server.uri, 'advocacy');
  const { apiKey } = await withApplication(uri, (app) => createDemo(app, Date.now()));
  const env = { ...process.env, STORAGE: 'mongodb', MONGODB_URI: uri, KEY: apiKey };
  const [code] = await once(spawn(command, args, { env, stdio: 'inherit' }), 'exit');
  process.exitCode = code ?? 1;
} finally {
  await server.stop();
}
