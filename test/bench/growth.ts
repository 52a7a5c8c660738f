import { databases } from './database.ts';
import type { LoadClient } from './measure.ts';
import type { Options } from './options.ts';
import type { Report } from './report.ts';
import { createRequestTypes, createSearchRequest, listCampaignIds, type RequestType } from './requests.ts';
import { measureRuns, type ServerRun, startRun } from './runs.ts';
import { type Sample, seedDatabase } from './sample.ts';
import { ours } from './servers.ts';

const SMALL_CAMPAIGN_COUNT = 1_000;

const INTRODUCTION =
  'One request at a time. The columns "(small)" measure a workspace of 1,000 campaigns in the same database.\n\n';

/** Measures this service on databases with growing numbers of campaigns, with one request at a time. */
export async function measureGrowth(client: LoadClient, options: Options): Promise<Report> {
  const opened = await databases[options.storage]();
  try {
    const runs: ServerRun[] = [];
    for (const campaigns of options.sizes) {
      const settings = opened.createSettings(`bench-${campaigns}`);
      const samples = [];
      for (const count of [campaigns, SMALL_CAMPAIGN_COUNT, SMALL_CAMPAIGN_COUNT]) {
        samples.push(await seedDatabase(settings, count));
      }
      const name = campaigns.toLocaleString('en');
      const run = await startRun({ ...ours(settings), name, description: `a workspace of ${name} campaigns` });
      run.types = await createTypes(run.server.port, samples as [Sample, Sample, Sample]);
      runs.push(run);
    }
    const { markdown, details } = await measureRuns(runs, opened.usage, client, options);
    return { markdown: INTRODUCTION + markdown, details };
  } finally {
    await opened.stop();
  }
}

/** Creates the types of requests to a large and a small workspace. `spare` is a workspace that is not measured. */
async function createTypes(
  port: number,
  [large, small, spare]: readonly [Sample, Sample, Sample],
): Promise<RequestType[]> {
  const { list, get, create } = createRequestTypes(large, large, await listCampaignIds(port, large));
  const inSmall = createRequestTypes(small, small, await listCampaignIds(port, small));
  const toSmall = (type: RequestType): RequestType => ({ ...type, name: `${type.name} (small)` });
  const withFirstRequest = (type: RequestType): RequestType => ({ ...type, requests: type.requests.slice(0, 1) });
  const types = [
    ...[withFirstRequest(list), get, toSmall(withFirstRequest(inSmall.list)), toSmall(inSmall.get)],
    { ...list, name: 'search, many matches', requests: [createSearchRequest('tents')] },
    { ...list, name: 'search, no match', requests: [createSearchRequest('glacier')] },
    // The types that create campaigns are last, because the new campaigns differ from those of the sample.
    ...[create, toSmall(inSmall.create)],
  ].map((type) => ({ ...type, connections: 1, durationFactor: 1 }));
  return types.map((type) => (type.method === 'GET' ? type : { ...type, warmUp: { ...type, key: spare.key } }));
}
