import cluster from 'node:cluster';
import { runServer } from '../../bootstrap/run-server.ts';
import { readSettings } from '../../bootstrap/settings.ts';
import { startWorkers } from '../../bootstrap/workers.ts';

/** Longer than a worker takes to stop if it is not hung, and shorter than the default timeout. */
const STOP_TIMEOUT_MS = 4_000;

const settings = readSettings(process.env);
if (cluster.isWorker) await runServer(settings, []);
else {
  const { url } = await startWorkers(settings, [], STOP_TIMEOUT_MS);
  process.stdout.write(`Workspace Advocacy listens on ${url}\n`);
}
