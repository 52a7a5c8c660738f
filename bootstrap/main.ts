import { serve } from './serve.ts';
import { readSettings, SettingsError } from './settings.ts';

try {
  await serve(readSettings(process.env));
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  for (const line of error.lines) console.error(line);
  process.exitCode = 1;
}
