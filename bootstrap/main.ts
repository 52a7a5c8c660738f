import { standardErrorLog } from './log.ts';
import { start } from './server.ts';
import { readSettings, SettingsError } from './settings.ts';

/** How long it serves on when it is told to stop: until whoever balances load has seen that it is not ready. */
const SERVING_ON_MS = 1_000;

const withDemo = (
  url: string,
  key: string,
) => `Workspace Advocacy listens at ${url}, with a demo workspace in memory: what you change is gone when it stops.

The demo's key: ${key}

Try:
  curl -H 'Authorization: Bearer ${key}' ${url}/campaigns
`;

try {
  const settings = readSettings(process.env);
  const { url, metricsUrl, demo, stop } = await start(settings, await standardErrorLog(settings.LOG_LEVEL));
  console.log(demo ? withDemo(url, demo.apiKey) : `Workspace Advocacy listens at ${url}\n`);
  if (metricsUrl) console.log(`Metrics: ${metricsUrl}\n`);
  let stopping = false;
  const onSignal = async () => {
    if (stopping) process.exit(0);
    stopping = true;
    await stop(SERVING_ON_MS);
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  for (const line of error.lines) console.error(line);
  process.exitCode = 1;
}
