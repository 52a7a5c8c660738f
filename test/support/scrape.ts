import type { ServiceProcess } from './process.ts';
import { waitUntil } from './wait-until.ts';

/** Requests the metrics of a service that has a `METRICS_PORT`. */
export async function fetchMetrics({ output }: ServiceProcess): Promise<Response> {
  await waitUntil(() => /^Metrics: .*\n/m.test(output.stdout));
  return fetch(/^Metrics: (\S+)$/m.exec(output.stdout)?.[1] as string);
}

/** Returns the values of the metrics, by their names and labels in the text format. */
export async function scrape(service: ServiceProcess): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetchMetrics(service)).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}
