import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { UNKNOWN_ID } from '../support/expected-responses.ts';
import { type LoadRequest, type LoadResponse, send, startLoad } from '../support/load.ts';
import { withDatabase } from '../support/mongod.ts';
import { allOperations, newValidCall, toPath } from '../support/operations.ts';
import { SOAK_SECONDS } from '../support/scale.ts';
import { suite } from '../support/suite.ts';
import { withTemporaryFolder } from '../support/temporary-folder.ts';
import type { ResourceUsage, Started } from './soak-process.ts';

const PROCESS_PATH = join(import.meta.dirname, 'soak-process.js');
const CLIENT_COUNT = 16;
/** The number of parts of a run. Each part ends with a measurement. The first part is the warm-up. */
const PART_COUNT = Math.max(4, SOAK_SECONDS / 10);
/** After this time, temporary connections and timers have ended. */
const SETTLE_DELAY_MS = 2_000;

/**
 * The number of POST requests per new record. All but one are replays, because the memory of many new records would
 * hide a leak.
 */
const CREATION_INTERVAL_COUNT = 100;
const PIPELINED_REQUEST_COUNT = 20;
const ABANDON_DELAY_MS = 10;
const RECORD_BYTES = 3 * 1_024;
/** How much the size of the heap after a garbage collection varies. */
const MAX_HEAP_VARIATION_BYTES = 2 * 2 ** 20;
/**
 * The size of the code that V8 compiles per second in the first 15 minutes, according to heap snapshots and a run of an
 * hour.
 */
const COMPILED_CODE_BYTES = 6 * 1_024;
const COMPILING_SECONDS = 900;
const MAX_EXTRA_HANDLE_COUNT = 2;
/** The memory of an additional handle if it is a MongoDB connection. */
const HANDLE_BYTES = 128 * 1_024;
/** The maximum number of MongoDB connections. The driver opens a new connection when all others are in use. */
const MAX_CONNECTION_COUNT = 50;

const EXPECTED_STATUSES: Readonly<Record<string, readonly number[]>> = {
  GET: [200],
  POST: [200, 201, 409],
  PATCH: [200, 409],
  // These requests have an unknown ID, so that the records remain.
  DELETE: [404],
};

suite('a service that serves all operations for a while', {
  'has no leak with memory storage': () =>
    runSoak({ STORAGE: 'memory' }, { recordBytes: RECORD_BYTES, handles: MAX_EXTRA_HANDLE_COUNT }),

  'has no leak with SQLite': () =>
    withTemporaryFolder((folder) =>
      runSoak(
        { STORAGE: 'sqlite', SQLITE_FILE: join(folder, 'advocacy.db'), DEMO_WORKSPACE: 'false' },
        { recordBytes: 0, handles: MAX_EXTRA_HANDLE_COUNT },
      ),
    ),

  'has no leak with MongoDB': () =>
    withDatabase((uri) =>
      runSoak(
        { STORAGE: 'mongodb', MONGODB_URI: uri },
        { recordBytes: 0, handles: MAX_EXTRA_HANDLE_COUNT + MAX_CONNECTION_COUNT },
      ),
    ),
});

/** How much the resource usage of a process may grow after its warm-up. */
interface AllowedGrowth {
  /** The bytes for each created record. */
  readonly recordBytes: number;
  readonly handles: number;
}

/** Runs all operations for a while, and fails if the resource usage of the process grows by more than is allowed. */
async function runSoak(
  storage: Readonly<Record<string, string>>,
  { recordBytes, handles }: AllowedGrowth,
): Promise<void> {
  const child = fork(PROCESS_PATH, [JSON.stringify(storage)], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let log = '';
  child.stderr?.on('data', (chunk) => (log = (log + chunk).slice(-4_096)));
  try {
    const [started] = (await once(child, 'message')) as [Started];
    const work = createWorkMix(started);
    const measurements: ResourceUsage[] = [];
    let createdCount = 0;
    for (let part = 0; part < PART_COUNT; part++) {
      const load = startLoad(CLIENT_COUNT, (client, i) => work(client + i * CLIENT_COUNT));
      await delay((SOAK_SECONDS * 1_000) / PART_COUNT);
      await load.stop();
      if (part > 0) createdCount += load.responses.filter(isCreation).length;
      assert.equal(child.exitCode, null, log);
      measurements.push(await measureUsage(child));
    }
    const [first, ...others] = measurements as [ResourceUsage, ...ResourceUsage[]];
    const last = others.at(-1) as ResourceUsage;
    const summary = `${JSON.stringify(measurements)} with ${createdCount} new records`;
    const extraHandleCount = Math.max(0, last.handles - first.handles);
    const compiledBytes = Math.min(SOAK_SECONDS, COMPILING_SECONDS) * COMPILED_CODE_BYTES;
    const allowedBytes =
      MAX_HEAP_VARIATION_BYTES + compiledBytes + createdCount * recordBytes + extraHandleCount * HANDLE_BYTES;
    assert.ok(last.heapBytes - first.heapBytes < allowedBytes, summary);
    assert.ok(extraHandleCount <= handles, summary);
  } finally {
    child.kill('SIGKILL');
  }
}

/**
 * Returns a function that sends a valid, invalid or abandoned request, depending on `i`. It throws if the status is
 * wrong.
 */
function createWorkMix(started: Started): (i: number) => Promise<LoadResponse> {
  const works = [...createValidRequests(started), ...createRejections(started), ...createAbandonedRequests(started)];
  return (i) => (works[i % works.length] as (typeof works)[number])(Math.floor(i / works.length));
}

function createValidRequests({ url, tenant }: Started) {
  return allOperations.map(([id, operation]) => {
    const { method } = operation;
    const replayed = { ...newValidCall(operation, tenant), headers: { 'Idempotency-Key': id } };
    return async (i: number): Promise<LoadResponse> => {
      const isNew = method !== 'POST' || i % CREATION_INTERVAL_COUNT === 0;
      const { path, body, ...rest } = isNew ? { ...newValidCall(operation, tenant), headers: {} } : replayed;
      const sent = await send(url, {
        method,
        path: method === 'DELETE' ? toPath(operation, UNKNOWN_ID) : path,
        key: tenant.key,
        ...(body && { body }),
        ...rest,
      });
      assert.ok(EXPECTED_STATUSES[method]?.includes(sent.status), `${id}: ${sent.status} ${sent.text}`);
      return sent;
    };
  });
}

function createRejections({ url, tenant: { key } }: Started) {
  const rejections: readonly (readonly [status: number, LoadRequest])[] = [
    [401, { path: '/campaigns' }],
    [401, { path: '/campaigns', key: 'no key' }],
    [404, { path: `/campaigns/${UNKNOWN_ID}`, key }],
    [404, { path: '/nothing' }],
    [422, { method: 'POST', path: '/tags', key, body: { colour: 'red' } }],
  ];
  return rejections.map(([status, options]) => async (): Promise<LoadResponse> => {
    const sent = await send(url, options);
    assert.equal(sent.status, status, JSON.stringify(options));
    return sent;
  });
}

/**
 * Returns clients that disconnect after an incomplete request, after an invalid request, or before they read the
 * responses.
 */
function createAbandonedRequests({ url, tenant: { key } }: Started) {
  const head = (line: string) =>
    `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
  const abandoned = [
    head('GET /campaigns'),
    `${head('GET /campaigns')}\r\n`.repeat(PIPELINED_REQUEST_COUNT),
    `${head('POST /tags')}Content-Length: 1000\r\n\r\n{`,
    `${head('POST /tags')}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    'nonsense\r\n\r\n',
  ];
  return abandoned.map((bytes) => async (): Promise<LoadResponse> => {
    const sentAt = performance.now();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => socket.destroy());
    socket.write(bytes);
    await delay(ABANDON_DELAY_MS);
    socket.destroy();
    return { sentAt, milliseconds: ABANDON_DELAY_MS, status: 0, text: '', headers: {} };
  });
}

function isCreation({ status, headers }: LoadResponse): boolean {
  return status === 201 && headers['idempotency-replayed'] === undefined;
}

async function measureUsage(child: ChildProcess): Promise<ResourceUsage> {
  await delay(SETTLE_DELAY_MS);
  child.send('measure');
  const [usage] = (await once(child, 'message')) as [ResourceUsage];
  return usage;
}
