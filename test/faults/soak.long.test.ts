import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Sending, type Sent, send, startLoad } from '../support/load.ts';
import { mongod } from '../support/mongod.ts';
import { callOf, everyOperation, pathOf } from '../support/operations.ts';
import { SOAK_SECONDS } from '../support/scale.ts';
import { suite } from '../support/suite.ts';
import { NEVER } from '../support/tenants.ts';
import type { Held, Started } from './soak-process.ts';

const PROCESS = join(import.meta.dirname, 'soak-process.js');
const CLIENTS = 16;
/** What is held is told after as many parts of the time; the first of them warms up. */
const PARTS = Math.max(4, SOAK_SECONDS / 10);
/** Connections and timers that end meanwhile have ended after this. */
const SETTLED_MS = 2_000;

/** One of so many creations makes a record; the others repeat one, so that what is kept does not hide what leaks. */
const MAKES_ONE_OF = 100;
const PIPELINED = 20;
const ABANDONED_AFTER_MS = 10;
const RECORD_BYTES = 3 * 1_024;
/** A collection is not the same at each time. */
const MOST_MORE_BYTES = 2 * 2 ** 20;
/** What V8 compiles in a second, for a quarter of an hour (seen in snapshots of the heap, and in an hour's readings). */
const COMPILED_BYTES = 6 * 1_024;
const COMPILING_SECONDS = 900;
const MOST_MORE_HANDLES = 2;
/** What a connection to MongoDB takes. */
const HANDLE_BYTES = 128 * 1_024;
/** The connections to MongoDB, one more of which is opened whenever all are in use. */
const POOL = 50;

const EXPECTED: Readonly<Record<string, readonly number[]>> = {
  GET: [200],
  POST: [200, 201, 409],
  PATCH: [200, 409],
  DELETE: [404],
};

suite('a service that does all that it does for a while', {
  'holds no more afterwards, in memory': () => soak({}, { recordBytes: RECORD_BYTES, handles: MOST_MORE_HANDLES }),

  'holds no more afterwards, with MongoDB': async () => {
    const { uri, stop } = await mongod();
    try {
      await soak({ STORAGE: 'mongodb', MONGODB_URI: uri }, { recordBytes: 0, handles: MOST_MORE_HANDLES + POOL });
    } finally {
      await stop();
    }
  },
});

/** What a process may hold more in the end than after its warming up. */
interface More {
  /** For each record that was made. */
  readonly recordBytes: number;
  readonly handles: number;
}

/** Lets a process do all that it does for a while, and fails where it holds more afterwards. */
async function soak(storage: Readonly<Record<string, string>>, { recordBytes, handles }: More): Promise<void> {
  const child = fork(PROCESS, [JSON.stringify(storage)], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let log = '';
  child.stderr?.on('data', (chunk) => (log = (log + chunk).slice(-4_096)));
  try {
    const [started] = (await once(child, 'message')) as [Started];
    const work = mixOf(started);
    const readings: Held[] = [];
    let made = 0;
    for (let part = 0; part < PARTS; part++) {
      const load = startLoad(CLIENTS, (client, i) => work(client + i * CLIENTS));
      await delay((SOAK_SECONDS * 1_000) / PARTS);
      await load.end();
      if (part > 0) made += load.sent.filter(isMade).length;
      assert.equal(child.exitCode, null, log);
      readings.push(await heldBy(child));
    }
    const [first, ...others] = readings as [Held, ...Held[]];
    const last = others.at(-1) as Held;
    const told = `${JSON.stringify(readings)} with ${made} records more`;
    const moreHandles = Math.max(0, last.handles - first.handles);
    const compiled = Math.min(SOAK_SECONDS, COMPILING_SECONDS) * COMPILED_BYTES;
    const allowed = MOST_MORE_BYTES + compiled + made * recordBytes + moreHandles * HANDLE_BYTES;
    assert.ok(last.heapBytes - first.heapBytes < allowed, told);
    assert.ok(moreHandles <= handles, told);
  } finally {
    child.kill('SIGKILL');
  }
}

/** Every operation in its turn, and all that is refused or given up; rejects where one is not answered as it should be. */
function mixOf(started: Started): (i: number) => Promise<Sent> {
  const works = [...successesOf(started), ...refusalsOf(started), ...abandonedOf(started)];
  return (i) => (works[i % works.length] as (typeof works)[number])(Math.floor(i / works.length));
}

function successesOf({ url, tenant }: Started) {
  return everyOperation.map(([id, operation]) => {
    const { method } = operation;
    const once = { ...callOf(operation, tenant), headers: { 'Idempotency-Key': 'again' } };
    return async (i: number): Promise<Sent> => {
      const makes = method !== 'POST' || i % MAKES_ONE_OF === 0;
      const { path, body, ...rest } = makes ? { ...callOf(operation, tenant), headers: {} } : once;
      const sent = await send(url, {
        method,
        path: method === 'DELETE' ? pathOf(operation, NEVER) : path,
        key: tenant.key,
        ...(body && { body }),
        ...rest,
      });
      assert.ok(EXPECTED[method]?.includes(sent.status), `${id}: ${sent.status} ${sent.text}`);
      return sent;
    };
  });
}

function refusalsOf({ url, tenant: { key } }: Started) {
  const refusals: readonly (readonly [status: number, Sending])[] = [
    [401, { path: '/campaigns' }],
    [401, { path: '/campaigns', key: 'no key' }],
    [404, { path: `/campaigns/${NEVER}`, key }],
    [404, { path: '/nothing' }],
    [422, { method: 'POST', path: '/tags', key, body: { colour: 'red' } }],
  ];
  return refusals.map(([status, sending]) => async (): Promise<Sent> => {
    const sent = await send(url, sending);
    assert.equal(sent.status, status, JSON.stringify(sending));
    return sent;
  });
}

/** Clients that go away: with half a request, behind a broken one, or without reading. */
function abandonedOf({ url, tenant: { key } }: Started) {
  const head = (line: string) =>
    `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
  const abandoned = [
    head('GET /campaigns'),
    `${head('GET /campaigns')}\r\n`.repeat(PIPELINED),
    `${head('POST /tags')}Content-Length: 1000\r\n\r\n{`,
    `${head('POST /tags')}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    'nonsense\r\n\r\n',
  ];
  return abandoned.map((bytes) => async (): Promise<Sent> => {
    const at = performance.now();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => socket.destroy());
    socket.write(bytes);
    await delay(ABANDONED_AFTER_MS);
    socket.destroy();
    return { at, milliseconds: ABANDONED_AFTER_MS, status: 0, text: '', headers: {} };
  });
}

function isMade({ status, headers }: Sent): boolean {
  return status === 201 && headers['idempotency-replayed'] === undefined;
}

async function heldBy(child: ChildProcess): Promise<Held> {
  await delay(SETTLED_MS);
  child.send('tell');
  const [held] = (await once(child, 'message')) as [Held];
  return held;
}
