import type { Running } from './server.ts';
import type { Settings } from './settings.ts';

/** How long it serves on when it is told to stop: until whoever balances load has seen that it is not ready. */
const SERVING_ON_MS = 1_000;

const DEMO_NOTE = ', with a demo workspace in memory: what you change is gone when it stops.';

/** Starts the service in this process, says where it listens, and ends the process when that is told to stop. */
export async function serve(settings: Settings): Promise<void> {
  let running: Running | undefined;
  let stopping = false;
  const onSignal = async () => {
    if (stopping || !running) process.exit(0);
    stopping = true;
    await running.stop(SERVING_ON_MS);
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  // Loaded after the signals are heeded, because it takes a while.
  const { standardErrorLog } = await import('./log.ts');
  const { start } = await import('./server.ts');
  running = await start(settings, await standardErrorLog(settings.LOG_LEVEL));
  const { url, metricsUrl, demo } = running;
  const facts = [`Workspace Advocacy listens at ${url}${demo ? DEMO_NOTE : ''}`];
  if (demo) {
    facts.push(`The demo's key: ${demo.apiKey}`);
    facts.push(`Try:\n  curl -H 'Authorization: Bearer ${demo.apiKey}' ${url}/campaigns`);
  }
  if (metricsUrl) facts.push(`Metrics: ${metricsUrl}`);
  console.log(`${facts.join('\n\n')}\n`);
}
