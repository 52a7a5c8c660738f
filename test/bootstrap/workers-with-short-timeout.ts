import cluster from 'node:cluster';
import { runServer } from '../../bootstrap/run-server.ts';
import { readSettings } from '../../bootstrap/settings.ts';
import { startWorkers } from '../../bootstrap/workers.ts';

/** The time after which a shutdown kills the workers. A worker that is not hung stops earlier. The default is longer. */
const STOP_TIMEOUT_MS = 4_000;

const settings = readSettings(process.env);
if (cluster.isWorker) await runServer(settings, []);
else {
  const { url } = await startWorkers(settings, [], STOP_TIMEOUT_MS);
  process.stdout.write(`Workspace Advocacy listens on ${url}\n`);
}
