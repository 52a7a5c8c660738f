import cluster from 'node:cluster';
import type { Logger } from 'pino';
import type { Settings } from './settings.ts';
import type { RunningServer } from './start-server.ts';
import type { ListeningAddresses } from './workers.ts';

/** How long it serves on when it is told to stop: until whoever balances load has seen that it is not ready. */
const READINESS_DELAY_MS = 1_000;

const DEMO_NOTE = ', with a demo workspace in memory: what you change is gone when it stops.';

/** Starts the service, logs the warnings, prints the address, and ends this process after SIGTERM or SIGINT. */
export async function runServer(settings: Settings, warnings: readonly string[]): Promise<void> {
  if (settings.WORKERS > 1 && cluster.isPrimary) {
    const { startWorkers } = await import('./workers.ts');
    tell(await startWorkers(settings, warnings), `, with ${settings.WORKERS} workers`);
    return;
  }
  let started: { readonly running: RunningServer; readonly log: Logger } | undefined;
  let stopping = false;
  const onSignal = async (signal: NodeJS.Signals) => {
    if (!started) process.exit(0);
    const { running, log } = started;
    if (stopping) {
      log.warn({ signal }, 'shutdown aborted by a second signal');
      process.exit(0);
    }
    stopping = true;
    log.info({ signal }, 'shutdown started');
    if (await running.stop(READINESS_DELAY_MS)) log.info('shutdown complete');
    else log.warn('shutdown timed out, the remaining connections were closed');
    process.exit(0);
  };
  process.on('SIGTERM', onSignal);
  // A terminal interrupts workers too, which are told to stop by the process that started them.
  process.on('SIGINT', cluster.isWorker ? () => undefined : onSignal);
  // Loaded after the signals are heeded, because it takes a while.
  const [{ listeningFields, standardErrorLog }, { startServer: start }] = await Promise.all([
    import('./log.ts'),
    import('./start-server.ts'),
  ]);
  const log = await standardErrorLog(settings.LOG_LEVEL);
  // The primary process has logged the warnings.
  if (cluster.isPrimary) for (const warning of warnings) log.warn(warning);
  const running = await start(settings, log);
  started = { running, log };
  log.info(listeningFields(settings, running), cluster.isPrimary ? 'server listening' : 'worker listening');
  if (cluster.isPrimary) tell(running, running.demo ? DEMO_NOTE : '');
}

/** Says what a person wants to know who has started it. */
function tell(
  { url, metricsUrl, demo }: ListeningAddresses & Pick<Partial<RunningServer>, 'demo'>,
  note: string,
): void {
  const facts = [`Workspace Advocacy listens at ${url}${note}`];
  if (demo) {
    facts.push(`The demo's key: ${demo.apiKey}`);
    facts.push(`Try:\n  curl -H 'Authorization: Bearer ${demo.apiKey}' ${url}/campaigns`);
  }
  if (metricsUrl) facts.push(`Metrics: ${metricsUrl}`);
  console.log(`${facts.join('\n\n')}\n`);
}
