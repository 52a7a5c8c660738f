import cluster from 'node:cluster';
import { readSettings } from '../../bootstrap/read-settings.ts';
import { runServer } from '../../bootstrap/run-server.ts';
import { startWorkers } from '../../bootstrap/workers.ts';

/** The time after which a shutdown kills the workers. A worker that is not hung stops earlier. The default is longer. */
const STOP_TIMEOUT_MS = 4_000;

if (cluster.isWorker) await runServer(process.env);
else {
  const { url } = await startWorkers(readSettings(process.env), [], STOP_TIMEOUT_MS);
  process.stdout.write(`Workspace Advocacy listens on ${url}\n`);
}
