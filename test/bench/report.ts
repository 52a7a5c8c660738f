import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
export const BENCHMARK = join(ROOT, 'docs/benchmark.md');
export const README = join(ROOT, 'README.md');

/** What was measured, in Markdown. */
export interface Told {
  readonly told: string;
  /** One table of the ratios of a comparison. */
  readonly summary?: string;
}

/** A table in Markdown. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = heads.map((head, i) => Math.max(head.length, ...rows.map((row) => (row[i] ?? '').length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, i) => '-'.repeat(width + 1) + (i === 0 ? '-' : ':')).join('|')}|`;
  return `${[line(heads), rule, ...rows.map(line)].join('\n')}\n`;
}

/** A number as a table shows it, where there is one. */
export function shown(value: number, digits = 0): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '–';
}

/** When and where something is measured, and how much else goes on there. */
export function circumstances(): string {
  const date = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} × ${cpus()[0]?.model?.trim()} with ${shown(totalmem() / 2 ** 30)} GiB`;
  return `Measured on ${date} with Node ${process.version} on ${machine}, whose load was ${shown(loadavg()[0] ?? 0, 1)} before.`;
}

/** Puts a section of a file in Markdown in the place of the one that has its title. */
export function writeSection(file: string, title: string, text: string): void {
  const [head, ...sections] = readFileSync(file, 'utf8').split(/^(?=## )/m);
  const others = sections.map((section, i) => {
    const end = i === sections.length - 1 ? '\n' : '\n\n';
    return section.startsWith(`## ${title}\n`) ? `## ${title}\n\n${text.trimEnd()}${end}` : section;
  });
  writeFileSync(file, [head, ...others].join(''));
}
