import { randomUUID } from 'node:crypto';
import { ProgressLine } from '../../adapters/cli/progress.ts';
import { seedCommand } from '../../adapters/cli/seed.ts';
import { createStandardErrorLog } from '../../bootstrap/log.ts';
import { readSettings } from '../../bootstrap/settings.ts';
import { startServer } from '../../bootstrap/start-server.ts';
import { type Sample, type SeedResult, seedParameters } from './sample.ts';

/**
 * The service on memory storage. It creates a sample workspace for each number of campaigns in `SEEDS`, and sends `SeedResult` to
 * its parent process. Node needs `--expose-gc`.
 */
const settings = readSettings(process.env);
const { app } = await startServer(settings, await createStandardErrorLog(settings.LOG_LEVEL));
const samples: Sample[] = [];
const counts: readonly number[] = JSON.parse(process.env.SEEDS as string);
const before = heapUsed();
for (const campaigns of counts) {
  const session = {
    app,
    bodyLimit: settings.BODY_LIMIT_BYTES,
    now: Date.now,
    newId: randomUUID,
    signal: new AbortController().signal,
    stdin: process.stdin,
    progress: new ProgressLine(process.stderr),
  };
  const output = await seedCommand.run(session, { ...seedParameters, campaigns });
  if ('json' in output) samples.push(output.json as Sample);
}
const heap = heapUsed() - before;
const campaigns = counts.reduce((sum, count) => sum + count, 0);
const bytes = await averageTextBytes(samples.at(-1) as Sample);
process.send?.({ samples, heapBytesPerCampaign: heap / campaigns, textBytesPerCampaign: bytes } satisfies SeedResult);

/** Returns the size of the heap after a garbage collection, in bytes. */
function heapUsed(): number {
  gc?.();
  return process.memoryUsage().heapUsed;
}

/** Returns the average size of a campaign's texts in UTF-8, in bytes. */
async function averageTextBytes({ workspaceId }: Sample): Promise<number> {
  let [bytes, count] = [0, 0];
  for await (const { name, description, shareContext, objective, destinationUrl } of app.campaigns.iterate(
    workspaceId,
  )) {
    bytes += Buffer.byteLength([name, description, shareContext, objective, destinationUrl].join(''));
    count++;
  }
  return bytes / count;
}
