import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { settings } from '../../bootstrap/settings.ts';
import { root } from './compose.ts';
import { MissingDependencyError } from './missing-dependency-error.ts';
import { type ServiceProcess, waitForService } from './process.ts';

const SOURCES = [
  ...['core', 'adapters', 'bootstrap', 'docs', 'CHANGELOG.md'],
  ...['build.js', 'tsconfig.json', 'package.json', 'package-lock.json'],
];

/** A copy or a clone of this checkout, in which a test runs npm and node as a user does. */
export interface Checkout {
  readonly folder: string;
  /** The environment in which npm works without a network. */
  readonly env: Environment;
  /** Runs a command and waits until it exits. */
  run(command: string, env?: Environment): Promise<ShellResult>;
  /** Runs a command that starts the service on a free port, and waits until the service listens. */
  start(command: string, env?: Environment): Promise<ServiceProcess>;
}

type Environment = Readonly<Record<string, string>>;

export interface ShellResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CheckoutOptions {
  /** Whether the copy includes `dist`. */
  readonly isBuilt?: boolean;
  /** The installed packages: all (the default), those of `npm ci --omit=dev`, or none. */
  readonly packages?: 'all' | 'production' | 'none';
  /** Whether to clone the last commit instead of copying files. A clone has neither `dist` nor packages. */
  readonly isClone?: boolean;
}

/**
 * Copies the files of this checkout that a build or a start needs, or clones it, and passes the copy to a test. Then
 * kills all processes that the test started.
 */
export async function withCheckout(
  { isBuilt = false, packages = 'all', isClone = false }: CheckoutOptions,
  test: (checkout: Checkout) => Promise<void>,
): Promise<void> {
  const parent = await mkdtemp(join(tmpdir(), 'advocacy-test-'));
  const folder = join(parent, 'checkout');
  const pids: number[] = [];
  const offline = { npm_config_cache: join(parent, 'npm'), npm_config_offline: 'true' };
  const base = { ...getCleanEnvironment(), ...(packages === 'none' ? {} : offline) };
  try {
    await (isClone ? cloneInto(folder) : copyInto(folder, [...SOURCES, ...(isBuilt ? ['dist'] : [])]));
    if (packages === 'production') await linkProductionPackages(folder);
    if (packages === 'all') await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    await test({
      folder,
      env: offline,
      run: (command, env) =>
        new Promise((resolve) => {
          execFile('sh', ['-c', command], { cwd: folder, env: { ...base, ...env } }, (error, stdout, stderr) =>
            resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
          );
        }),
      start(command, env) {
        const [file = '', ...args] = command.split(' ');
        const child = spawn(file, args, {
          cwd: folder,
          env: { ...base, PORT: '0', ...env },
          stdio: ['ignore', 'pipe', 'pipe'],
          detached: true,
        });
        pids.push(child.pid as number);
        return waitForService(child);
      },
    });
  } finally {
    for (const pid of pids) killGroup(pid);
    await rm(parent, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Copies files of this checkout into a new folder. */
async function copyInto(folder: string, names: readonly string[]): Promise<void> {
  await mkdir(folder);
  await promisify(execFile)('cp', ['-R', ...names.map((name) => join(root, name)), folder]);
}

/** Clones the last commit of this checkout into a folder that does not exist. */
async function cloneInto(folder: string): Promise<void> {
  if (!existsSync(join(root, '.git'))) throw new MissingDependencyError('a clone of the repository');
  await promisify(execFile)('git', ['clone', '--quiet', root, folder]);
}

/**
 * Returns the environment without the settings of the service, and without the variables that npm sets for the tests.
 */
function getCleanEnvironment(): NodeJS.ProcessEnv {
  const isSetByNpm = (name: string) => /^npm_(command|execpath|lifecycle|package)/.test(name);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !(name in settings) && !isSetByNpm(name)));
}

/** Links the packages that `npm ci --omit=dev` installs. */
async function linkProductionPackages(folder: string): Promise<void> {
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
  const isNeeded = (name: string) =>
    Object.entries(packages as Record<string, { dev?: boolean; devOptional?: boolean }>).some(
      ([path, { dev, devOptional }]) => `${path}/`.startsWith(`node_modules/${name}/`) && !dev && !devOptional,
    );
  await mkdir(join(folder, 'node_modules'));
  for (const name of (await readdir(join(root, 'node_modules'))).filter(isNeeded)) {
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has exited already.
  }
}
