import pino from 'pino';
import { createDemo, type Demo } from '../../bootstrap/demo.ts';
import { readSettings } from '../../bootstrap/settings.ts';
import { type RunningServer, startServer } from '../../bootstrap/start-server.ts';
import { createNodeSystem } from '../../bootstrap/system.ts';
import type { Application } from '../../core/application.ts';
import { assertAsDocumented } from './openapi-document.ts';
import { type ApiResponse, DEMO_API_KEY, type RequestOptions, request } from './request.ts';

export * from './request.ts';

const UNLIMITED = { RATE_LIMIT_POINTS: '1000000', REFUSED_CREDENTIALS_PER_MINUTE: '1000000' };

/** A running service, as a test uses it. */
export interface Api {
  readonly url: string;
  readonly metricsUrl: string | undefined;
  readonly app: Application;
  readonly demo: Demo;
  /** Sends a request. Throws if the response of an operation does not match the OpenAPI document. */
  call(method: string, path: string, options?: RequestOptions): Promise<ApiResponse>;
}

export interface ServiceOptions {
  /** Settings by their names. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The clock of the core, in milliseconds since the epoch. */
  readonly now?: () => number;
}

/**
 * Runs the service with the demo workspace during a test, on memory storage. If TEST_STORAGE is `mongodb`, it uses a new MongoDB
 * database instead. If also TEST_PROCESSES is `2` and the test does not set the clock, a second process gets every other request,
 * except those of `call` with the demo key.
 */
export async function withService(
  test: (api: Api) => Promise<void>,
  { settings = {}, now }: ServiceOptions = {},
): Promise<void> {
  const database = process.env.TEST_STORAGE === 'mongodb' ? await startDatabase() : undefined;
  const allSettings = readSettings({
    PORT: '0',
    ...UNLIMITED,
    ...(database ? { STORAGE: 'mongodb', MONGODB_URI: database.uri } : { DEMO_API_KEY }),
    ...settings,
  });
  const system = createNodeSystem();
  const hasTwoProcesses = database && !now && process.env.TEST_PROCESSES === '2';
  let running: RunningServer | undefined;
  let other: OtherProcess | undefined;
  try {
    running = await startServer(allSettings, pino({ level: 'silent' }), now ? { ...system, now } : system);
    other = hasTwoProcesses ? await startOtherProcess(database.uri, settings) : undefined;
    const { url, metricsUrl, app } = running;
    const demo = running.demo ?? (await createDemo(app, system.now(), DEMO_API_KEY));
    let isOtherNext = false;
    const getNextUrl = () => {
      isOtherNext = !isOtherNext;
      return isOtherNext && other ? other.url : url;
    };
    const call: Api['call'] = async (method, path, options) => {
      // Only one process knows the demo key.
      const response = await request((options?.key === undefined ? url : getNextUrl()) + path, method, options);
      assertAsDocumented(method, path, response, options?.body);
      return response;
    };
    await test({
      get url() {
        return getNextUrl();
      },
      metricsUrl,
      app,
      demo,
      call,
    });
  } finally {
    await other?.stop();
    await running?.stop();
    await database?.stop();
  }
}

/** Creates a MongoDB database. Its module is loaded only if a test needs it. */
async function startDatabase() {
  const { createDatabase } = await import('./mongod.ts');
  return createDatabase();
}

interface OtherProcess {
  readonly url: string;
  stop(): Promise<unknown>;
}

/** Starts another process that serves the same database. */
async function startOtherProcess(uri: string, settings: Readonly<Record<string, string>>): Promise<OtherProcess> {
  const [{ startProcess }, { createMongodbSettings }] = await Promise.all([
    import('./process.ts'),
    import('./mongodb-service.ts'),
  ]);
  const { url, child, waitForExit } = await startProcess({
    ...createMongodbSettings(uri),
    ...UNLIMITED,
    LOG_LEVEL: 'error',
    ...settings,
  });
  const stop = () => {
    child.kill('SIGKILL');
    return waitForExit();
  };
  return { url, stop };
}
