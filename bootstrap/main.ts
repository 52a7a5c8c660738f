import { start } from './server.ts';
import { readSettings, SettingsError } from './settings.ts';

try {
  const { url, demo, stop } = await start(readSettings(process.env));
  console.log(`Workspace Advocacy listens at ${url}, with a demo workspace in memory: what you change is gone when it stops.

The demo's key: ${demo.apiKey}

Try:
  curl -H 'Authorization: Bearer ${demo.apiKey}' ${url}/campaigns
`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  for (const line of error.lines) console.error(line);
  process.exitCode = 1;
}
