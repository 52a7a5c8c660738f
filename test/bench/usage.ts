import { existsSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/** What the operating system tells of a process and its children (/proc; elsewhere it does not say). */
export interface Usage {
  /** Seconds of processor time so far, of all its threads. */
  cpuSeconds(): number;
  /** Resident memory. */
  residentMiB(): number;
}

/** Both are `NaN` where the system does not say. */
export function usageOf(pid: number): Usage {
  const ofAll = (of: (pid: number) => number) => withChildren(pid).reduce((sum, it) => sum + of(it), 0);
  return {
    cpuSeconds: () => ofAll(cpuSecondsOf),
    residentMiB: () => ofAll((it) => Number(/^VmRSS:\s+(\d+)/m.exec(proc(it, 'status'))?.[1]) / 1024),
  };
}

function cpuSecondsOf(pid: number): number {
  const [, ...fields] = proc(pid, 'stat').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[10]) + Number(fields[11])) / TICKS_PER_SECOND;
}

/** The process and those that it has started itself, such as its workers; the process alone where the system does not say. */
export function withChildren(pid: number): readonly number[] {
  return [pid, ...(proc(pid, `task/${pid}/children`).match(/\d+/g) ?? []).map(Number)];
}

function proc(pid: number, file: string): string {
  const path = `/proc/${pid}/${file}`;
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
