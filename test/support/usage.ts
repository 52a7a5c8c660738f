import { existsSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/** The resources that a process uses, from `/proc`. Without `/proc`, both functions return `NaN`. */
export interface ProcessUsage {
  /** Processor time of all threads, in seconds. */
  cpuSeconds(): number;
  /** Resident memory (RSS). */
  residentMiB(): number;
}

export function usageOf(pid: number): ProcessUsage {
  const read = (file: string) =>
    existsSync(`/proc/${pid}/${file}`) ? readFileSync(`/proc/${pid}/${file}`, 'utf8') : '';
  return {
    cpuSeconds() {
      const fields = read('stat').split(') ').at(-1)?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    },
    residentMiB: () => Number(/^VmRSS:\s+(\d+)/m.exec(read('status'))?.[1]) / 1024,
  };
}
