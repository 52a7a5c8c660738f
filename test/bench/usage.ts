import { existsSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/** The resources that a process and its children use, from `/proc`. Without `/proc`, both functions return `NaN`. */
export interface ProcessUsage {
  /** Processor time of all threads, in seconds. */
  cpuSeconds(): number;
  /** Resident memory (RSS). */
  residentMiB(): number;
}

export function usageOf(pid: number): ProcessUsage {
  const sumOf = (quantity: (pid: number) => number) => processTreeOf(pid).reduce((sum, it) => sum + quantity(it), 0);
  return {
    cpuSeconds: () => sumOf(cpuSecondsOf),
    residentMiB: () => sumOf((it) => Number(/^VmRSS:\s+(\d+)/m.exec(readProc(it, 'status'))?.[1]) / 1024),
  };
}

function cpuSecondsOf(pid: number): number {
  const [, ...fields] = readProc(pid, 'stat').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[10]) + Number(fields[11])) / TICKS_PER_SECOND;
}

/** Returns the process and its children, such as workers. Without `/proc`, returns the process alone. */
export function processTreeOf(pid: number): readonly number[] {
  return [pid, ...(readProc(pid, `task/${pid}/children`).match(/\d+/g) ?? []).map(Number)];
}

function readProc(pid: number, file: string): string {
  const path = `/proc/${pid}/${file}`;
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
