import { version } from '../adapters/api/version.ts';
import { type EnvironmentVariables, getSettingWarnings, readSettings } from './read-settings.ts';
import { exitOnSignal, type StoppableServer } from './shutdown.ts';
import { writeStartMessage } from './start-message.ts';

/**
 * Runs the server in this process. Prints the address, and exits after a graceful shutdown on SIGTERM or SIGINT.
 * Rejects with a `StartupError` if the server cannot start.
 */
export async function runServer(environment: EnvironmentVariables): Promise<void> {
  const settings = readSettings(environment);
  let server: StoppableServer | undefined;
  exitOnSignal(() => server);
  // Loading takes a while, so the handlers of signals are installed first.
  const [{ createStandardErrorLog }, { startServer }] = await Promise.all([
    import('../adapters/logging/standard-error-log.ts'),
    import('./start-server.ts'),
  ]);
  const log = await createStandardErrorLog(settings.LOG_LEVEL);
  for (const warning of getSettingWarnings(environment)) log.warn(warning);
  const running = await startServer(settings, log);
  server = { log, stop: running.stop };
  const { url, metricsUrl, linksUrl } = running;
  const { STORAGE: storage, RATE_LIMITER: rateLimiter } = settings;
  if (!process.stderr.isTTY) log.info({ url, metricsUrl, linksUrl, version, storage, rateLimiter }, 'server listening');
  writeStartMessage(process.stdout, settings, running);
}
