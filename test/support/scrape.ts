import type { ServiceProcess } from './process.ts';
import { until } from './until.ts';

/** Asks for the metrics of a service with a `METRICS_PORT`. */
export async function askForMetrics({ printed }: ServiceProcess): Promise<Response> {
  await until(() => /^Metrics: .*\n/m.test(printed.stdout));
  return fetch(/^Metrics: (\S+)$/m.exec(printed.stdout)?.[1] as string);
}

/** What they say, by name and labels as they stand there. */
export async function scrape(service: ServiceProcess): Promise<ReadonlyMap<string, number>> {
  const text = await (await askForMetrics(service)).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}
