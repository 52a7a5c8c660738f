import { compareInMemory, compareOnMongodb } from './compare.ts';
import { flatInMemory, flatOnMongodb } from './flat.ts';
import { LoadClient } from './measure.ts';
import { readOptions } from './options.ts';
import { BENCHMARK, describeCircumstances, README, type Report, writeSection } from './report.ts';
import { storages } from './servers.ts';

/** The introduction of the table in README. */
const README_INTRODUCTION = `Requests per second, relative to a hand-tuned server on \`node:http\` and the MongoDB driver without validation, rate limits or logs:
2.00 is twice as many. \`ours\` is this service, and \`ours-redis\` counts requests in Redis. \`page 400\` is a deep page of the
list. \`npm run bench\` writes this table. [The benchmark](docs/benchmark.md) also has processor time, latency and the method.`;

const comparisonReports = {
  mongodb: { title: 'Comparison on MongoDB', measure: compareOnMongodb },
  memory: { title: 'Comparison in memory', measure: compareInMemory },
};
const growthReports = {
  mongodb: { title: 'Growing data on MongoDB', measure: flatOnMongodb },
  memory: { title: 'Growing data in memory', measure: flatInMemory },
};

// The servers are killed at the event `exit`. Without these listeners, a signal would end this process without that event.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
const options = readOptions();
const client = new LoadClient();
for (const storage of options.storages) {
  if (!storages[storage].some((name) => options.servers.includes(name))) continue;
  const circumstances = describeCircumstances();
  const { title, measure } = (options.isFlat ? growthReports : comparisonReports)[storage];
  const { markdown, summary }: Report = await measure(client, options);
  console.log(`## ${title}\n\n${circumstances}\n\n${markdown}`);
  // If an option differs from its default, the results are only printed.
  if (!options.isWhole) continue;
  writeSection(BENCHMARK, title, `${circumstances}\n\n${markdown}`);
  if (storage === 'mongodb' && summary) {
    writeSection(README, 'Performance', `${README_INTRODUCTION}\n\n${summary}\n${circumstances}`);
  }
}
client.close();
