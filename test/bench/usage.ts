import { existsSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/** What the operating system tells of a process (/proc; elsewhere it does not say). */
export interface Usage {
  /** Seconds of processor time so far, of all its threads. */
  cpuSeconds(): number;
  /** Resident memory. */
  residentMiB(): number;
}

/** Both are `NaN` where the system does not say. */
export function usageOf(pid: number): Usage {
  return {
    cpuSeconds() {
      const [, ...fields] = proc(pid, 'stat').split(') ').at(-1)?.split(' ') ?? [];
      return (Number(fields[10]) + Number(fields[11])) / TICKS_PER_SECOND;
    },
    residentMiB: () => Number(/^VmRSS:\s+(\d+)/m.exec(proc(pid, 'status'))?.[1]) / 1024,
  };
}

function proc(pid: number, file: string): string {
  const path = `/proc/${pid}/${file}`;
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
