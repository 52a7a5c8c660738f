import { setTimeout as delay } from 'node:timers/promises';
import { createStandardErrorLog } from '../../adapters/logging/standard-error-log.ts';
import { readSettings } from '../../bootstrap/read-settings.ts';
import { startServer } from '../../bootstrap/start-server.ts';
import { createTenant, type Tenant } from '../support/tenants.ts';

/** The first message of the process. */
export interface Started {
  readonly url: string;
  readonly tenant: Tenant;
}

/** The resources that the idle process uses. The process sends them in response to each message. */
export interface ResourceUsage {
  /** The size of the heap after garbage collections, and of the buffers outside of the heap. */
  readonly heapBytes: number;
  readonly handles: number;
}

/** Some time passes between a garbage collection and the release of buffers, which are 10 MB or more with MongoDB. */
const BUFFER_RELEASE_DELAY_MS = 200;
const COLLECTION_COUNT = 3;

const storage = JSON.parse(process.argv[2] as string);
const settings = readSettings({
  PORT: '0',
  RATE_LIMIT_POINTS: '1000000000',
  REJECTED_CREDENTIALS_PER_MINUTE: '1000000000',
  ...storage,
});
const { app, url } = await startServer(settings, await createStandardErrorLog('info'));
process.send?.({ url, tenant: await createTenant({ app }, 'soak') } satisfies Started);
process.on('message', async () => {
  for (let collection = 0; collection < COLLECTION_COUNT; collection++) {
    globalThis.gc?.();
    await delay(BUFFER_RELEASE_DELAY_MS);
  }
  const { heapUsed, external } = process.memoryUsage();
  const handles = process.getActiveResourcesInfo().length;
  process.send?.({ heapBytes: heapUsed + external, handles } satisfies ResourceUsage);
});
