import cluster from 'node:cluster';
import type { Logger } from 'pino';
import type { Settings } from './settings.ts';
import type { RunningServer } from './start-server.ts';
import type { ListeningAddresses } from './workers.ts';

/** How long the server accepts connections after a signal, so that a load balancer notices that the server is not ready. */
const READINESS_DELAY_MS = 1_000;

const DEMO_NOTE = ', with a demo workspace in memory. All changes are lost when the server stops.';

/**
 * Runs the server in this process, or in as many workers as `WORKERS` says. Logs the warnings, prints the address, and exits
 * after a graceful shutdown on SIGTERM or SIGINT.
 */
export async function runServer(settings: Settings, warnings: readonly string[]): Promise<void> {
  if (settings.WORKERS > 1 && cluster.isPrimary) {
    const { startWorkers } = await import('./workers.ts');
    printStartMessage(await startWorkers(settings, warnings), `, with ${settings.WORKERS} workers`);
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
  const [{ getListeningFields, createStandardErrorLog }, { startServer }] = await Promise.all([
    import('./log.ts'),
    import('./start-server.ts'),
  ]);
  const log = await createStandardErrorLog(settings.LOG_LEVEL);
  // The primary process has logged the warnings.
  if (cluster.isPrimary) for (const warning of warnings) log.warn(warning);
  const running = await startServer(settings, log);
  started = { running, log };
  log.info(getListeningFields(settings, running), cluster.isPrimary ? 'server listening' : 'worker listening');
  if (cluster.isPrimary) printStartMessage(running, running.demo ? DEMO_NOTE : '');
}

function ignoreSignal(): void {}

/** Prints the address, the API key of the demo, an example request and the address of the metrics. */
function printStartMessage(
  { url, metricsUrl, demo }: ListeningAddresses & Pick<Partial<RunningServer>, 'demo'>,
  note: string,
): void {
  const paragraphs = [`Workspace Advocacy listens on ${url}${note}`];
  if (demo) {
    paragraphs.push(`Demo API key: ${demo.apiKey}`);
    paragraphs.push(`Try:\n  curl -H 'Authorization: Bearer ${demo.apiKey}' ${url}/campaigns`);
  }
  if (metricsUrl) paragraphs.push(`Metrics: ${metricsUrl}`);
  console.log(`${paragraphs.join('\n\n')}\n`);
}
