import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createDemo } from '../../bootstrap/demo.ts';
import { inDatabase } from './mongod.ts';
import { withUseCases } from './mongodb-service.ts';
import { startReplicaSet } from './replica-set.ts';

/**
 * Runs a command with the settings of a MongoDB that has the demo workspace, and that workspace's key in `KEY`:
 * `node with-mongodb.js COMMAND ARGUMENT…`.
 */
const [command = '', ...args] = process.argv.slice(2);
const server = await startReplicaSet();
try {
  const uri = inDatabase(server.uri, 'advocacy');
  const { apiKey } = await withUseCases(uri, (app) => createDemo(app, Date.now()));
  const env = { ...process.env, STORAGE: 'mongodb', MONGODB_URI: uri, KEY: apiKey };
  const [code] = await once(spawn(command, args, { env, stdio: 'inherit' }), 'exit');
  process.exitCode = code ?? 1;
} finally {
  await server.stop();
}
