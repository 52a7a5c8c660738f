import pino from 'pino';
import { readSettings } from '../../bootstrap/read-settings.ts';
import { startServer } from '../../bootstrap/start-server.ts';
import { StartupError } from '../../bootstrap/startup-error.ts';

/** Returns the lines of the error of a server that cannot start, in this process. Rejects if the server starts. */
export async function getStartErrors(settings: Readonly<Record<string, string>>): Promise<readonly string[]> {
  try {
    const { stop } = await startServer(readSettings({ PORT: '0', ...settings }), pino({ level: 'silent' }));
    await stop();
  } catch (error) {
    if (error instanceof StartupError) return error.lines;
    throw error;
  }
  throw new Error('the server started');
}
