import { compareOnMongodb } from './compare.ts';
import { measureGrowthOnMongodb } from './growth.ts';
import { LoadClient } from './measure.ts';
import { readOptions } from './options.ts';
import { BENCHMARK, describeCircumstances, README, type Report, writeSection } from './report.ts';
import { serverNames } from './servers.ts';

/** The introduction of the table in README. */
const README_INTRODUCTION = `Requests per second, relative to a hand-tuned server on \`node:http\` and the MongoDB driver without validation, rate limits or logs:
2.00 is twice as many. \`ours\` is this service, and \`ours-redis\` counts requests in Redis. \`page 400\` is a deep page of the
list. \`npm run bench\` writes this table. [The benchmark](docs/benchmark.md) also has processor time, latency and the method.`;

const comparisonReports = {
  mongodb: { title: 'Comparison on MongoDB', measure: compareOnMongodb },
};
const growthReports = {
  mongodb: { title: 'Growing data on MongoDB', measure: measureGrowthOnMongodb },
};

// The servers are killed at the event `exit`. Without these listeners, a signal would end this process without that event.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
const options = readOptions();
const client = new LoadClient();
for (const storage of options.storages) {
  if (!serverNames[storage].some((name) => options.servers.includes(name))) continue;
  const circumstances = describeCircumstances();
  const { title, measure } = (options.measuresGrowth ? growthReports : comparisonReports)[storage];
  const { markdown, summary }: Report = await measure(client, options);
  console.log(`## ${title}\n\n${circumstances}\n\n${markdown}`);
  if (!options.writesDocuments) continue;
  writeSection(BENCHMARK, title, `${circumstances}\n\n${markdown}`);
  if (summary) {
    writeSection(README, 'Performance', `${README_INTRODUCTION}\n\n${summary}\n${circumstances}`);
  }
}
client.close();
