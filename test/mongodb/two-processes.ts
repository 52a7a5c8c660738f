import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createMongodbEngine } from '../../adapters/mongodb/engine.ts';
import { createStorage } from '../../adapters/persistence/storage.ts';
import { createNodeSystem } from '../../bootstrap/system.ts';
import { Application } from '../../core/application.ts';
import { createDatabase } from '../support/mongod.ts';
import { createMongodbSettings, createWorkspace } from '../support/mongodb-service.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { type Api, request } from '../support/service.ts';
import type { ActionRequest, RequestMessage, ResponseMessage } from './operator-process.ts';

const OPERATOR = join(import.meta.dirname, 'operator-process.js');

/** Two server processes with a workspace of the test, and two processes of an operator, all on one database. */
export interface TwoProcesses {
  readonly workspaceId: string;
  /** Calls the API of each server process, with a key of that workspace unless another one is given. */
  readonly services: Pair<Api['call']>;
  readonly operators: Pair<Operator>;
  /** The use cases in this process, on the same database. */
  readonly app: Application;
}

export type Pair<T> = readonly [T, T];

const mapPair = <T, R>([one, other]: Pair<T>, convert: (it: T) => R): Pair<R> => [convert(one), convert(other)];

/** Runs an action. Resolves to `done`, the kind of a `CoreError`, or the message of another error. */
type Operator = (...request: ActionRequest) => Promise<string>;

interface OpenProcesses {
  readonly services: Pair<ServiceProcess>;
  readonly operators: Pair<Operator>;
  readonly app: Application;
  close(): Promise<void>;
}

let opened: Promise<OpenProcesses> | undefined;

/** Runs a test in a new workspace. All tests of a file use the same processes until `closeProcesses` stops them. */
export async function withTwoProcesses(test: (two: TwoProcesses) => Promise<void>): Promise<void> {
  opened ??= open();
  const { services, operators, app } = await opened;
  const { workspaceId, key } = await createWorkspace(app);
  const createCall =
    ({ url }: ServiceProcess): Api['call'] =>
    (method, path, options) =>
      request(url + path, method, { key, ...options });
  await test({ workspaceId, services: mapPair(services, createCall), operators, app });
}

export async function closeProcesses(): Promise<void> {
  await (await opened)?.close();
}

async function open(): Promise<OpenProcesses> {
  const { uri, stop } = await createDatabase();
  const settings = { ...createMongodbSettings(uri), LOG_LEVEL: 'error' };
  const services = await Promise.all([startProcess(settings), startProcess(settings)]);
  const children = mapPair([uri, uri], (at) => fork(OPERATOR, [at]));
  const { engine, connection } = createMongodbEngine(uri, () => undefined);
  return {
    services,
    operators: mapPair(children, createOperator),
    app: new Application(createStorage(engine), createNodeSystem()),
    async close() {
      for (const child of [...children, ...services.map((service) => service.child)]) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      await connection.close();
      await stop();
    },
  };
}

function createOperator(child: ChildProcess): Operator {
  const pending: ((outcome: string) => void)[] = [];
  child.on('message', ({ number, outcome }: ResponseMessage) => pending[number]?.(outcome));
  return (...request) =>
    new Promise((resolve) => {
      const message: RequestMessage = { number: pending.push(resolve) - 1, request };
      child.send(message);
    });
}
