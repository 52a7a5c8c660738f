import { once } from 'node:events';
import { createMongodbEngine } from '../../adapters/mongodb/engine.ts';
import { createNodeSystem } from '../../adapters/node/system.ts';
import { createStorage } from '../../adapters/persistence/storage-engine.ts';
import { Application } from '../../core/application.ts';
import { createDatabase } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { type Api, request } from '../support/service.ts';
import { createWorkspace } from '../support/tenants.ts';

/** Two server processes with a workspace of the test, on one database. */
export interface TwoProcesses {
  readonly workspaceId: string;
  /** Calls the API of each server process, with a key of that workspace unless another one is given. */
  readonly services: Pair<Api['call']>;
  /** The use cases in this process, on the same database. */
  readonly app: Application;
}

export type Pair<T> = readonly [T, T];

const mapPair = <T, R>([one, other]: Pair<T>, convert: (it: T) => R): Pair<R> => [convert(one), convert(other)];

interface OpenProcesses {
  readonly services: Pair<ServiceProcess>;
  readonly app: Application;
  close(): Promise<void>;
}

let opened: Promise<OpenProcesses> | undefined;

/** Runs a test in a new workspace. All tests of a file use the same processes until `closeProcesses` stops them. */
export async function withTwoProcesses(test: (two: TwoProcesses) => Promise<void>): Promise<void> {
  opened ??= open();
  const { services, app } = await opened;
  const { workspaceId, key } = await createWorkspace(app);
  const createCall =
    ({ url }: ServiceProcess): Api['call'] =>
    (method, path, options) =>
      request(url + path, method, { key, ...options });
  await test({ workspaceId, services: mapPair(services, createCall), app });
}

export async function closeProcesses(): Promise<void> {
  await (await opened)?.close();
}

async function open(): Promise<OpenProcesses> {
  const { uri, stop } = await createDatabase();
  const settings = { ...createMongodbSettings(uri), LOG_LEVEL: 'error' };
  const services = await Promise.all([startProcess(settings), startProcess(settings)]);
  const { engine, connection } = createMongodbEngine(uri, () => undefined);
  return {
    services,
    app: new Application(createStorage(engine), createNodeSystem()),
    async close() {
      for (const { child } of services) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      await connection.close();
      await stop();
    },
  };
}
