import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { mongodbStorage } from '../../adapters/mongodb/storage.ts';
import { createNodeSystem } from '../../bootstrap/system.ts';
import { Application } from '../../core/application.ts';
import { mongod } from '../support/mongod.ts';
import { newWorkspace, onMongodb } from '../support/mongodb-service.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { type Api, request } from '../support/service.ts';
import type { Answered, Asked, Order } from './operator-process.ts';

const OPERATOR = join(import.meta.dirname, 'operator-process.js');

/** Two processes that serve a workspace of its own, and two in which an operator works, all on one database. */
export interface TwoProcesses {
  readonly workspaceId: string;
  /** Calls the one and the other, with a key of that workspace unless another one is given. */
  readonly services: Both<Api['call']>;
  readonly operators: Both<Operator>;
  /** The use cases in this process, which is one more on that database. */
  readonly app: Application;
}

export type Both<T> = readonly [T, T];

const both = <T, R>([one, other]: Both<T>, make: (it: T) => R): Both<R> => [make(one), make(other)];

/** Does an order, and tells what came of it: `done`, the kind of a refusal, or the message of a failure. */
type Operator = (...order: Order) => Promise<string>;

interface Opened {
  readonly services: Both<ServiceProcess>;
  readonly operators: Both<Operator>;
  readonly app: Application;
  close(): Promise<void>;
}

let opened: Promise<Opened> | undefined;

/** Lets a test work with the two processes, which all tests of a file share, until `closeProcesses`. */
export async function onTwoProcesses(test: (two: TwoProcesses) => Promise<void>): Promise<void> {
  opened ??= open();
  const { services, operators, app } = await opened;
  const { workspaceId, key } = await newWorkspace(app);
  const validCallOf =
    ({ url }: ServiceProcess): Api['call'] =>
    (method, path, call) =>
      request(url + path, method, { key, ...call });
  await test({ workspaceId, services: both(services, validCallOf), operators, app });
}

export async function closeProcesses(): Promise<void> {
  await (await opened)?.close();
}

async function open(): Promise<Opened> {
  const { uri, stop } = await mongod();
  const settings = { ...onMongodb(uri), LOG_LEVEL: 'error' };
  const services = await Promise.all([startProcess(settings), startProcess(settings)]);
  const children = both([uri, uri], (at) => fork(OPERATOR, [at]));
  const { storage, connection } = mongodbStorage(uri, () => undefined);
  return {
    services,
    operators: both(children, operatorOf),
    app: new Application(storage, createNodeSystem()),
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

function operatorOf(child: ChildProcess): Operator {
  const waiting: ((outcome: string) => void)[] = [];
  child.on('message', ({ number, outcome }: Answered) => waiting[number]?.(outcome));
  return (...order) =>
    new Promise((resolve) => {
      const asked: Asked = { number: waiting.push(resolve) - 1, order };
      child.send(asked);
    });
}
