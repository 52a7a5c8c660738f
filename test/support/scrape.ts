import type { ServiceProcess } from './process.ts';
import { until } from './until.ts';

/** What the metrics of a service with a `METRICS_PORT` say, by name and labels as they stand there. */
export async function scrape({ printed }: ServiceProcess): Promise<ReadonlyMap<string, number>> {
  await until(() => /^Metrics: .*\n/m.test(printed.stdout));
  const url = /^Metrics: (\S+)$/m.exec(printed.stdout)?.[1] as string;
  const text = await (await fetch(url)).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}
