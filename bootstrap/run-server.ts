import cluster from 'node:cluster';
import type { Logger } from 'pino';
import { getListeningFields } from './listen.ts';
import { type EnvironmentVariables, getSettingWarnings, readSettings } from './read-settings.ts';
import { READINESS_DELAY_MS } from './shutdown.ts';
import { formatStartMessage } from './start-message.ts';
import type { RunningServer } from './start-server.ts';

/**
 * Runs the server in this process, or in as many workers as `WORKERS` says. Logs warnings about the settings, prints the address,
 * and exits after a graceful shutdown on SIGTERM or SIGINT. Rejects with a `UsageError` if the server cannot start. With
 * several workers, one starts before the others, which would fail for the same reasons. If it cannot start, it prints the reason,
 * and this process exits.
 */
export async function runServer(environment: EnvironmentVariables): Promise<void> {
  const settings = readSettings(environment);
  const warnings = getSettingWarnings(environment);
  if (settings.WORKERS > 1 && cluster.isPrimary) {
    const { startWorkers } = await import('./workers.ts');
    console.log(formatStartMessage(settings, await startWorkers(settings, warnings)));
    return;
  }
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
  process.on('SIGTERM', onSignal);
  // Ctrl+C in a terminal sends SIGINT to workers, too. They ignore it, because the primary process sends them SIGTERM.
  process.on('SIGINT', cluster.isWorker ? ignoreSignal : onSignal);
  // Loading takes a while, so the signal handlers are installed first.
  const [{ createStandardErrorLog }, { startServer }] = await Promise.all([
    import('../adapters/logging/standard-error-log.ts'),
    import('./start-server.ts'),
  ]);
  const log = await createStandardErrorLog(settings.LOG_LEVEL);
  // A worker does not log the warnings, because its primary process has logged them.
  if (cluster.isPrimary) for (const warning of warnings) log.warn(warning);
  const running = await startServer(settings, log);
  started = { running, log };
  log.info(getListeningFields(settings, running), cluster.isPrimary ? 'server listening' : 'worker listening');
  if (cluster.isPrimary) console.log(formatStartMessage(settings, running));
}

function ignoreSignal(): void {}
