import type { ServerResponse } from 'node:http';
import type { Express } from 'express';
import type { Application } from '../../core/application.ts';
import { getRequestContext } from './request-context.ts';
import type { Responder } from './responder.ts';

const HEALTH_PATH = '/healthz';
const READINESS_PATH = '/readyz';

/** Like the paths of other routes, the path of a health probe may end with a slash. */
const PROBE_PATHS = new Set([HEALTH_PATH, READINESS_PATH].flatMap((path) => [path, `${path}/`]));

/** The objects that health probes depend on. */
interface ProbeServices {
  readonly app: Application;
  readonly responder: Responder;
}

/** Returns whether a path is that of a health probe, which is served even under overload. */
export function isHealthProbe(path: string): boolean {
  return PROBE_PATHS.has(path);
}

/** Serves `/healthz`, which shows that the process runs, and `/readyz`, which shows whether it can serve requests. */
export function serveHealthProbes(server: Express, { app, responder }: ProbeServices): void {
  const findUnreadyReason = createReadinessCheck(app, responder);
  const get = (path: string, handleGet: (response: ServerResponse) => unknown) =>
    server.get(path, (_request, response) => {
      getRequestContext(response).route = path;
      return handleGet(response);
    });
  get(HEALTH_PATH, (response) => responder.send(response, 200, '{"status":"ok"}'));
  get(READINESS_PATH, async (response) => {
    const reason = await findUnreadyReason(response);
    // `missing` has the reason: `storage`, or `stopping` during a shutdown.
    const body = reason === undefined ? { status: 'ready' } : { status: 'unavailable', missing: reason };
    responder.send(response, reason === undefined ? 200 : 503, JSON.stringify(body));
  });
}

/**
 * Returns a function that resolves to the reason for which the service is not ready, or to `undefined` if it is ready.
 * An error of the storage is reported to the observers once per outage. Concurrent calls share one check of the
 * storage.
 */
function createReadinessCheck(app: Application, responder: Responder) {
  let wasReady = true;
  let pendingCheck: Promise<void> | undefined;
  const checkReady = () => {
    pendingCheck ??= app.checkReady().finally(() => (pendingCheck = undefined));
    return pendingCheck;
  };
  return async (response: ServerResponse): Promise<'stopping' | 'storage' | undefined> => {
    if (responder.isStopping) return 'stopping';
    try {
      await checkReady();
      wasReady = true;
      return undefined;
    } catch (error) {
      if (wasReady) responder.report(response, error);
      wasReady = false;
      return 'storage';
    }
  };
}
