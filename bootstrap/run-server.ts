import type { Logger } from 'pino';
import { version } from '../adapters/api/version.ts';
import { type EnvironmentVariables, getSettingWarnings, readSettings } from './read-settings.ts';
import { formatStartMessage } from './start-message.ts';
import type { RunningServer } from './start-server.ts';

/**
 * The time for which a stopping server still accepts connections, so that a load balancer notices that it is not ready.
 */
const READINESS_DELAY_MS = 1_000;

/**
 * Runs the server in this process. Prints the address, and exits after a graceful shutdown on SIGTERM or SIGINT.
 * Rejects with a `UsageError` if the server cannot start.
 */
export async function runServer(environment: EnvironmentVariables): Promise<void> {
  const settings = readSettings(environment);
  let started: { readonly running: RunningServer; readonly log: Logger } | undefined;
  let isStopping = false;
  const onSignal = async (signal: NodeJS.Signals) => {
    if (!started) process.exit(0);
    const { running, log } = started;
    if (isStopping) {
      log.warn({ signal }, 'second signal, exiting at once');
      process.exit(0);
    }
    isStopping = true;
    log.info({ signal }, 'shutdown started');
    if (await running.stop(READINESS_DELAY_MS)) log.info('shutdown complete');
    else log.warn('shutdown timed out, the remaining connections were closed');
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onSignal);
  // Loading takes a while, so the signal handlers are installed first.
  const [{ createStandardErrorLog }, { startServer }] = await Promise.all([
    import('../adapters/logging/standard-error-log.ts'),
    import('./start-server.ts'),
  ]);
  const log = await createStandardErrorLog(settings.LOG_LEVEL);
  for (const warning of getSettingWarnings(environment)) log.warn(warning);
  const running = await startServer(settings, log);
  started = { running, log };
  const { url, metricsUrl, linksUrl } = running;
  const { STORAGE: storage, RATE_LIMITER: rateLimiter } = settings;
  log.info({ url, metricsUrl, linksUrl, version, storage, rateLimiter }, 'server listening');
  console.log(formatStartMessage(settings, running));
}
