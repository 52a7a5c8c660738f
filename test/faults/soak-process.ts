import { setTimeout as delay } from 'node:timers/promises';
import { standardErrorLog } from '../../bootstrap/log.ts';
import { readSettings } from '../../bootstrap/settings.ts';
import { startServer } from '../../bootstrap/start-server.ts';
import { createTenant, type Tenant } from '../support/tenants.ts';

/** The first thing that the process tells. */
export interface Started {
  readonly url: string;
  readonly tenant: Tenant;
}

/** What the process holds when it does nothing, told at every message. */
export interface Held {
  /** After collections, with what buffers hold outside of the heap. */
  readonly heapBytes: number;
  readonly handles: number;
}

/** A collection lets go of buffers (10 MB of them and more, with MongoDB) some time after it has told that it is done. */
const BUFFERS_FREED_MS = 200;
const COLLECTIONS = 3;

const storage = JSON.parse(process.argv[2] as string);
const settings = readSettings({
  PORT: '0',
  RATE_LIMIT_POINTS: '1000000000',
  REFUSED_CREDENTIALS_PER_MINUTE: '1000000000',
  ...storage,
});
const { app, url } = await startServer(settings, await standardErrorLog('info'));
process.send?.({ url, tenant: await createTenant({ app }, 'soak') } satisfies Started);
process.on('message', async () => {
  for (let collection = 0; collection < COLLECTIONS; collection++) {
    globalThis.gc?.();
    await delay(BUFFERS_FREED_MS);
  }
  const { heapUsed, external } = process.memoryUsage();
  const handles = process.getActiveResourcesInfo().length;
  process.send?.({ heapBytes: heapUsed + external, handles } satisfies Held);
});
