import assert from 'node:assert/strict';
import { getRedis } from '../support/redis.ts';
import { databases } from './database.ts';
import type { LoadClient } from './measure.ts';
import type { Options } from './options.ts';
import type { Report } from './report.ts';
import {
  comparableContentOf,
  createRequestTypes,
  listCampaignIds,
  type Request,
  type RequestType,
  sendRequest,
} from './requests.ts';
import { measureRuns, type ServerRun, startRun } from './runs.ts';
import { seedDatabase } from './sample.ts';
import { createContenders, installPeers } from './servers.ts';

/** 10,456 of these campaigns are not archived, which is enough for page 400 with 25 campaigns on each page. */
const CAMPAIGN_COUNT = 12_500;
const WRITTEN_CAMPAIGN_COUNT = 1_000;

/** Compares this service with other servers on the same database. */
export async function compareServers(client: LoadClient, options: Options): Promise<Report> {
  const opened = await databases[options.storage]();
  const redisServer = options.servers.includes('ours-redis') ? await getRedis() : undefined;
  const settings = opened.createSettings('bench');
  try {
    const read = await seedDatabase(settings, CAMPAIGN_COUNT);
    const written = await seedDatabase(settings, WRITTEN_CAMPAIGN_COUNT);
    const all = createContenders(settings, [read, written], redisServer?.url);
    const contenders = all.filter(({ name }) => options.servers.includes(name));
    if (contenders.some(({ name }) => !/^(ours|reference)/.test(name))) installPeers();
    const runs: ServerRun[] = [];
    for (const contender of contenders) runs.push(await startRun(contender));
    const { port } = (runs[0] as ServerRun).server;
    const types = Object.values(createRequestTypes(read, written, await listCampaignIds(port, read))).filter(
      ({ name }) => options.types.includes(name),
    );
    for (const type of types) await assertEqualResponses(type, runs);
    for (const run of runs) run.types = types;
    return await measureRuns(runs, opened.usage, client, options);
  } finally {
    await Promise.all([opened.stop(), redisServer?.stop()]);
  }
}

/**
 * Fails unless all servers return equal responses with records, among them shared and unshared campaigns in `list` and
 * `get`.
 */
async function assertEqualResponses(type: RequestType, runs: readonly ServerRun[]): Promise<void> {
  const expected = new Map<Request, unknown>();
  for (const { server } of runs) {
    const bodies: string[] = [];
    for (const request of type.requests) {
      const response = await sendRequest(server.port, type, request);
      const content = comparableContentOf(type, response);
      if (!expected.has(request)) expected.set(request, content);
      assert.deepEqual(content, expected.get(request), `${type.name}: the responses differ`);
      assert.ok(response.status < 300 && response.body.length > 2, `${type.name}: a response has no record`);
      bodies.push(response.body);
    }
    const hasBoth = [true, false].every((value) => bodies.some((body) => body.includes(`"hasShared":${value}`)));
    assert.ok(hasBoth || !['list', 'get'].includes(type.name), `${type.name}: needs shared and unshared campaigns`);
  }
}
