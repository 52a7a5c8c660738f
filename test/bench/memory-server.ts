import { randomUUID } from 'node:crypto';
import { ProgressLine } from '../../adapters/cli/progress.ts';
import { seedCommand } from '../../adapters/cli/seed.ts';
import { createStandardErrorLog } from '../../bootstrap/log.ts';
import { readSettings } from '../../bootstrap/settings.ts';
import { startServer } from '../../bootstrap/start-server.ts';
import { type Sample, type Seeded, seedParameters } from './sample.ts';

/**
 * The service on memory storage, with a sample workspace in it for each of the numbers of campaigns in `SEEDS`. It tells what
 * the campaigns take; the garbage collector must be exposed.
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
  const told = await seedCommand.run(session, { ...seedParameters, campaigns });
  if ('json' in told) samples.push(told.json as Sample);
}
const heap = heapUsed() - before;
const campaigns = counts.reduce((sum, count) => sum + count, 0);
const texts = await averageTexts(samples.at(-1) as Sample);
process.send?.({ samples, heap: heap / campaigns, texts } satisfies Seeded);

/** Bytes of what lives. */
function heapUsed(): number {
  gc?.();
  return process.memoryUsage().heapUsed;
}

/** Bytes of the texts of a campaign. */
async function averageTexts({ workspaceId }: Sample): Promise<number> {
  let [bytes, count] = [0, 0];
  for await (const { name, description, shareContext, objective, destinationUrl } of app.campaigns.iterate(
    workspaceId,
  )) {
    bytes += Buffer.byteLength([name, description, shareContext, objective, destinationUrl].join(''));
    count++;
  }
  return bytes / count;
}
