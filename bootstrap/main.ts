import { runServer } from './run-server.ts';
import { readSettings, SettingsError, settingWarnings } from './settings.ts';

try {
  await runServer(readSettings(process.env), settingWarnings(process.env));
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  for (const line of error.lines) console.error(line);
  // Not before it is written; a worker would stay for the process that started it.
  process.stderr.write('', () => process.exit(1));
}
