import pino from 'pino';
import { createDemo, type Demo } from '../../bootstrap/demo.ts';
import { readSettings } from '../../bootstrap/settings.ts';
import { type RunningServer, startServer } from '../../bootstrap/start-server.ts';
import { nodeSystem } from '../../bootstrap/system.ts';
import type { Application } from '../../core/application.ts';
import { assertAsDocumented } from './document.ts';
import { type Answer, type Call, DEMO_API_KEY, request } from './request.ts';

export * from './request.ts';

const BOUNDLESS = { RATE_LIMIT_POINTS: '1000000', REFUSED_CREDENTIALS_PER_MINUTE: '1000000' };

/** A real service on a port of its own. */
export interface Api {
  readonly url: string;
  readonly metricsUrl: string | undefined;
  readonly app: Application;
  readonly demo: Demo;
  /** Sends a request; what an operation answers is as the document says, or this fails. */
  call(method: string, path: string, call?: Call): Promise<Answer>;
}

export interface ServiceOptions {
  /** Settings by their names. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The clock of the core, in milliseconds since the epoch. */
  readonly now?: () => number;
}

/**
 * Serves while a test works with it: on memory storage, or where TEST_STORAGE is `mongodb` on a database of its own, where
 * TEST_PROCESSES is `2` with a second process that takes every other request, unless the clock is the test's. All have
 * the demo workspace.
 */
export async function serving(
  test: (api: Api) => Promise<void>,
  { settings = {}, now }: ServiceOptions = {},
): Promise<void> {
  const database = process.env.TEST_STORAGE === 'mongodb' ? await newDatabase() : undefined;
  const read = readSettings({
    PORT: '0',
    ...BOUNDLESS,
    ...(database ? { STORAGE: 'mongodb', MONGODB_URI: database.uri } : { DEMO_API_KEY }),
    ...settings,
  });
  const system = nodeSystem(DEMO_API_KEY);
  const areTwo = database && !now && process.env.TEST_PROCESSES === '2';
  let running: RunningServer | undefined;
  let other: Another | undefined;
  try {
    running = await startServer(read, pino({ level: 'silent' }), now ? { ...system, now } : system);
    other = areTwo ? await another(database.uri, settings) : undefined;
    const { url, metricsUrl, app } = running;
    const demo = running.demo ?? (await createDemo(app, system.now(), DEMO_API_KEY));
    let isOthersTurn = false;
    const urlInTurn = () => {
      isOthersTurn = !isOthersTurn;
      return isOthersTurn && other ? other.url : url;
    };
    const call: Api['call'] = async (method, path, given) => {
      // The demo's key is known to its own process alone.
      const answer = await request((given?.key === undefined ? url : urlInTurn()) + path, method, given);
      assertAsDocumented(method, path, answer, given?.body);
      return answer;
    };
    await test({
      get url() {
        return urlInTurn();
      },
      metricsUrl,
      app,
      demo,
      call,
    });
  } finally {
    await other?.end();
    await running?.stop();
    await database?.stop();
  }
}

/** Loads what finds a MongoDB only where one is asked for. */
async function newDatabase() {
  const { mongod } = await import('./mongod.ts');
  return mongod();
}

interface Another {
  readonly url: string;
  end(): Promise<unknown>;
}

/** A process that serves the same database. */
async function another(uri: string, settings: Readonly<Record<string, string>>): Promise<Another> {
  const [{ startProcess }, { onMongodb }] = await Promise.all([import('./process.ts'), import('./mongodb-service.ts')]);
  const { url, child, ended } = await startProcess({
    ...onMongodb(uri),
    ...BOUNDLESS,
    LOG_LEVEL: 'error',
    ...settings,
  });
  const end = () => {
    child.kill('SIGKILL');
    return ended();
  };
  return { url, end };
}
