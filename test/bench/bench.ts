import { compareInMemory, compareOnMongodb } from './compare.ts';
import { flatInMemory, flatOnMongodb } from './flat.ts';
import { Client } from './measure.ts';
import { readOptions } from './options.ts';
import { BENCHMARK, circumstances, README, type Told, writeSection } from './report.ts';
import { storages } from './servers.ts';

/** The introduction of the table in README. */
const README_INTRODUCTION = `Requests per second, relative to a hand-tuned server on \`node:http\` and the MongoDB driver without validation, rate limits or logs:
2.00 is twice as many. \`ours\` is this service; \`ours-redis\` counts requests in Redis. \`npm run bench\` writes this table. [The
benchmark](docs/benchmark.md) also has processor time, latency and the method.`;

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
for (const storage of options.storages) {
  if (!storages[storage].some((name) => options.servers.includes(name))) continue;
  const when = circumstances();
  const { title, measure } = (options.isFlat ? growths : comparisons)[storage];
  const { told, summary }: Told = await measure(client, options);
  console.log(`## ${title}\n\n${when}\n\n${told}`);
  if (!options.isWhole) continue;
  writeSection(BENCHMARK, title, `${when}\n\n${told}`);
  if (storage === 'mongodb' && summary) {
    writeSection(README, 'Performance', `${README_INTRODUCTION}\n\n${summary}\n${when}`);
  }
}
client.close();
