import { measureAnalytics } from './analytics.ts';
import { compareServers } from './compare.ts';
import { measureGrowth } from './growth.ts';
import { compareRedirects } from './links.ts';
import { LoadClient } from './measure.ts';
import { readOptions } from './options.ts';
import { BENCHMARK, describeCircumstances, type Report, writeSection } from './report.ts';

const STORAGE_TITLES = { sqlite: 'SQLite', mongodb: 'MongoDB' };

// The servers are killed at the event `exit`. Without these listeners, a signal would end this process without that
// event.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
const options = readOptions();
const client = new LoadClient();
const circumstances = describeCircumstances();
const storage = STORAGE_TITLES[options.storage];
const [title, measure] = options.measuresLinks
  ? ['Short links', compareRedirects]
  : options.measuresAnalytics
    ? ['Analytics', measureAnalytics]
    : options.measuresGrowth
      ? ['Growing data', measureGrowth]
      : ['Comparison', compareServers];
const heading = `## ${title} on ${storage}`;
const { markdown, details = '' }: Report = await measure(client, options);
console.log(`${heading}\n\n${circumstances}\n\n${markdown}
${details}`);
if (options.writesDocuments) writeSection(BENCHMARK, heading, `${circumstances}\n\n${markdown}`);
client.close();
