import { ProgressLine } from '../../adapters/cli/progress.ts';
import { seed } from '../../adapters/cli/seed.ts';
import { standardErrorLog } from '../../bootstrap/log.ts';
import { start } from '../../bootstrap/server.ts';
import { readSettings } from '../../bootstrap/settings.ts';
import { seedParameters } from './sample.ts';

/** The service on memory storage, with a sample workspace in it for each of the numbers of campaigns in `SEEDS`. */
const settings = readSettings(process.env);
const { application: use } = await start(settings, await standardErrorLog(settings.LOG_LEVEL));
const samples: object[] = [];
for (const campaigns of JSON.parse(process.env.SEEDS as string) as number[]) {
  const session = {
    use,
    bodyLimit: settings.BODY_LIMIT_BYTES,
    now: Date.now,
    stop: new AbortController().signal,
    stdin: process.stdin,
    progress: new ProgressLine(process.stderr),
  };
  const told = await seed.run(session, { ...seedParameters, campaigns });
  if ('json' in told) samples.push(told.json);
}
process.send?.(samples);
