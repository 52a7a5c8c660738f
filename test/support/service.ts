import pino, { type DestinationStream } from 'pino';
import { createNodeSystem } from '../../adapters/node/system.ts';
import { createDemo, type Demo } from '../../bootstrap/demo.ts';
import { readSettings } from '../../bootstrap/read-settings.ts';
import { type RunningServer, startServer } from '../../bootstrap/start-server.ts';
import type { Application } from '../../core/application.ts';
import { NO_DNS_SERVER } from './dns-server.ts';
import { assertAsDocumented } from './openapi-document.ts';
import { type ServiceProcess, startProcess } from './process.ts';
import { type ApiResponse, type CallOptions, DEMO_API_KEY, request } from './request.ts';
import { createTestStorage } from './storage.ts';
import { runAfterLastTest } from './suite.ts';

export * from './request.ts';

const DEFAULTS = { ...NO_DNS_SERVER, RATE_LIMIT_POINTS: '1000000', REJECTED_CREDENTIALS_PER_MINUTE: '1000000' };

/** A running service, as a test uses it. */
export interface Api {
  readonly url: string;
  readonly metricsUrl: string | undefined;
  readonly app: Application;
  readonly demo: Demo;
  /** Sends a request. Throws if the response of an operation does not match the OpenAPI document. */
  call(method: string, path: string, options?: CallOptions): Promise<ApiResponse>;
}

export interface ServiceOptions {
  /** Settings by their names. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The clock of the core, in milliseconds since the epoch. */
  readonly now?: () => number;
  /** Gets the lines of the log. By default, there is no log. */
  readonly log?: DestinationStream;
}

/**
 * Runs the service with the demo workspace during a test, on the storage that TEST_STORAGE names (by default, a SQLite
 * file).
 *
 * If TEST_PROCESSES is `2`, requests alternate between two processes, except those of `call` without a `key`. This
 * needs a storage that processes can share, and a test that does not set the clock.
 */
export async function withService(test: (api: Api) => Promise<void>, options: ServiceOptions = {}): Promise<void> {
  const { api, stop } = await startService(options);
  try {
    await test(api);
  } finally {
    await stop();
  }
}

let sharedService: Promise<TestService> | undefined;

/**
 * Runs a test that uses only workspaces which it creates, and leaves no request open. Without options, passes it the
 * service that such tests of this process share, because starting a service takes longer than most tests. With options,
 * starts a service for this test.
 */
export async function withSharedService(test: (api: Api) => Promise<void>, options?: ServiceOptions): Promise<void> {
  if (options) return withService(test, options);
  sharedService ??= startService({}).then((service) => {
    runAfterLastTest(service.stop);
    return service;
  });
  await test((await sharedService).api);
}

interface TestService {
  readonly api: Api;
  stop(): Promise<void>;
}

async function startService({ settings = {}, now, log }: ServiceOptions): Promise<TestService> {
  const storage = await createTestStorage();
  const environment = { ...DEFAULTS, ...storage.settings, ...settings };
  const system = { ...createNodeSystem(), ...(now && { now }) };
  let running: RunningServer | undefined;
  let other: ServiceProcess | undefined;
  const stop = async () => {
    await other?.kill();
    await running?.stop();
    await storage.stop();
  };
  try {
    const allSettings = readSettings({ PORT: '0', ...environment });
    const hasTwoProcesses = process.env.TEST_PROCESSES === '2' && storage.isShared && !now;
    const logger = log ? pino({ level: 'trace' }, log) : pino({ level: 'silent' });
    running = await startServer(allSettings, logger, system);
    other = hasTwoProcesses ? await startProcess({ LOG_LEVEL: 'error', ...environment }) : undefined;
    const { url, metricsUrl, app } = running;
    const demo = running.demo ?? (await createDemo(app, system.now(), DEMO_API_KEY));
    let requestCount = 0;
    const getNextUrl = () => (other && requestCount++ % 2 === 0 ? other.url : url);
    const call: Api['call'] = async (method, path, options) => {
      const response = await request((options?.key === undefined ? url : getNextUrl()) + path, method, options);
      assertAsDocumented(method, path, response, options?.body);
      return response;
    };
    const api: Api = {
      get url() {
        return getNextUrl();
      },
      metricsUrl,
      app,
      demo,
      call,
    };
    return { api, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
