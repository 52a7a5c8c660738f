import { compareInMemory, compareOnMongodb } from './compare.ts';
import { flatInMemory, flatOnMongodb } from './flat.ts';
import { Client } from './measure.ts';
import { readOptions } from './options.ts';
import { BENCHMARK, circumstances, README, type Told, writeSection } from './report.ts';
import { storages } from './servers.ts';

/** What README says of the tables. */
const WHAT = `\`npm run bench\` writes these tables. Each cell holds two ratios: requests a second (the more the better), and processor time
for each (the less the better). On MongoDB they are to a server of \`node:http\` and the driver that is tuned by hand and has
no validation, limiter or log; \`reference-commands\` reads as this service does, \`ours-redis\` has its limiter in Redis,
\`ours-unbatched\` asks MongoDB for each thing by itself. In memory they are to a \`node:http\` that gives the same bytes and
does nothing for them ([how, and more](docs/benchmark.md)).`;

const comparisons = {
  mongodb: { title: 'Beside others on MongoDB', measure: compareOnMongodb },
  memory: { title: 'Beside `node:http` in memory', measure: compareInMemory },
};
const growths = {
  mongodb: { title: 'As workspaces grow, on MongoDB', measure: flatOnMongodb },
  memory: { title: 'As workspaces grow, in memory', measure: flatInMemory },
};

// The servers end when this process exits, which a signal alone would not let it do.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
const options = readOptions();
const client = new Client();
const summaries: string[] = [];
for (const storage of options.storages) {
  if (!storages[storage].some((name) => options.servers.includes(name))) continue;
  const when = circumstances();
  const { title, measure } = (options.isFlat ? growths : comparisons)[storage];
  const { told, summary }: Told = await measure(client, options);
  console.log(`## ${title}\n\n${when}\n\n${told}`);
  if (!options.isWhole) continue;
  writeSection(BENCHMARK, title, `${when}\n\n${told}`);
  if (summary) summaries.push(`${summary}\n${when}`);
}
if (summaries.length > 0) writeSection(README, 'How fast it is', [WHAT, ...summaries].join('\n\n'));
client.close();
