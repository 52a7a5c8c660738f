import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
export const BENCHMARK = join(ROOT, 'docs/benchmark.md');

/** The results of a measurement in Markdown. */
export interface Report {
  readonly markdown: string;
  /** Tables that are printed, but not written to docs/benchmark.md. */
  readonly details?: string;
}

/** Formats a table in Markdown, with aligned columns. */
export function formatTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = heads.map((head, i) => Math.max(head.length, ...rows.map((row) => (row[i] ?? '').length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, i) => '-'.repeat(width + 1) + (i === 0 ? '-' : ':')).join('|')}|`;
  return `${[line(heads), rule, ...rows.map(line)].join('\n')}\n`;
}

/** Formats a number of a table. `–` stands for a missing number. */
export function formatNumber(value: number, digits = 0): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '–';
}

/** Describes the date, the machine and its load. */
export function describeCircumstances(): string {
  const date = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} × ${cpus()[0]?.model?.trim()}, ${formatNumber(totalmem() / 2 ** 30)} GiB`;
  return `Measured on ${date} with Node ${process.version} on ${machine}. Load average before: ${formatNumber(loadavg()[0] ?? 0, 1)}.`;
}

/** Replaces the section of a Markdown file that has this heading, such as `### On SQLite`, until the next heading. */
export function writeSection(file: string, heading: string, text: string): void {
  const [head, ...sections] = readFileSync(file, 'utf8').split(/^(?=##+ )/m);
  const updated = sections.map((section, i) => {
    const end = i === sections.length - 1 ? '\n' : '\n\n';
    return section.startsWith(`${heading}\n`) ? `${heading}\n\n${text.trimEnd()}${end}` : section;
  });
  writeFileSync(file, [head, ...updated].join(''));
}
