import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

// Builds `dist` (docs/adr/0001-build.md).
//   `node build.js` builds.
//   `node build.js --if-stale` builds if there is no build, or if the sources have changed since the last build.
//   `node build.js --if-possible` builds if the compilers are installed. Otherwise, it succeeds without a build.
//   `node build.js --watch` starts the server, and restarts it after each change of a source.

process.chdir(import.meta.dirname);

/** The inputs of a build: folders of TypeScript, and files. npm changes the last file when it installs a package. */
const SOURCES = [
  ...['core', 'adapters', 'bootstrap', 'test', 'clients'],
  ...['build.js', 'tsconfig.json', 'package.json', 'package-lock.json', 'node_modules/.package-lock.json'],
];

/** The packages to bundle, because they consist of many ES modules. Node.js loads all other packages from `node_modules`. */
const BUNDLED_PACKAGES = ['inversify', 'uuid', 'zod'];

const MAIN = 'bootstrap/main.js';
const CLI = 'bootstrap/cli.js';
const CHUNKS = 'bootstrap/chunks/';

/** The description of the build in `dist`: the hash of its `sources`, the time `builtAt`, and its `files`. */
const MANIFEST = 'build.json';

/** A symbolic link to the ID of the process that builds. Unlike a file, a link never exists without its content. */
const LOCK = 'dist.lock';
const LOCK_INTERVAL_MS = 50;
/** The TTL of a lock, longer than a build. It is needed because after a reboot, another process may have the same ID. */
const LOCK_TTL_MS = 300_000;

/**
 * How long the chunks of earlier builds are kept. While a process starts, it loads chunks of the build that its main file is from.
 * So the TTL is longer than a start.
 */
const OLD_CHUNKS_TTL_MS = 3_600_000;

const canBuild = ['tsc', 'esbuild'].every((name) => existsSync(join('node_modules/.bin', name)));
const options = process.argv.slice(2);

if (options.includes('--watch')) {
  await watch();
} else if (canBuild) {
  if (!options.includes('--if-stale') || isStale()) await buildIfWritable();
} else if (!(options.includes('--if-stale') && isBuilt())) {
  const state = isBuilt() ? 'dist is unchanged' : 'nothing is built';
  process.stderr.write(
    `The compilers are not installed, so ${state}. Run \`npm ci --include=dev\`, or copy a built dist here.\n`,
  );
  process.exitCode = options.includes('--if-possible') ? 0 : 1;
}

/** Builds. If the folder is read-only, as in a container, `--if-stale` keeps the previous build. */
async function buildIfWritable() {
  try {
    await build();
  } catch (error) {
    const isReadOnly = ['EACCES', 'EPERM', 'EROFS'].includes(error.code);
    if (!isReadOnly || !options.includes('--if-stale') || !isBuilt()) throw error;
    process.stderr.write(`dist is unchanged because this folder is read-only: ${error.message}\n`);
  }
}

function isBuilt() {
  return existsSync(join('dist', MAIN));
}

function isStale() {
  return !isBuilt() || readManifest()?.sources !== hashSources();
}

function readManifest() {
  const file = join('dist', MANIFEST);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/** Hashes the names, times and sizes of all sources in a few milliseconds. A deleted source changes the hash, too. */
function hashSources() {
  const hash = createHash('sha256');
  for (const source of SOURCES.filter(existsSync)) {
    const files = statSync(source).isDirectory()
      ? listFiles(source)
          .filter((name) => name.endsWith('.ts'))
          .map((name) => join(source, name))
      : [source];
    for (const file of files.sort()) {
      const { mtimeMs, size } = statSync(file);
      hash.update(`${file} ${mtimeMs} ${size}\n`);
    }
  }
  return hash.digest('hex');
}

/** Returns the paths of the files below a folder, relative to it, without installed packages. */
function listFiles(folder, prefix = '') {
  return readdirSync(join(folder, prefix), { withFileTypes: true }).flatMap((entry) => {
    const path = prefix + entry.name;
    if (!entry.isDirectory()) return [path];
    return entry.name === 'node_modules' ? [] : listFiles(folder, `${path}/`);
  });
}

/** Builds in a new folder and publishes the result. If the build fails, the previous build is unchanged. */
async function build() {
  await lock();
  const folder = `dist.${process.pid}`;
  try {
    // Another process may have built while this one waited for the lock.
    if (options.includes('--if-stale') && !isStale()) return;
    removeAbandonedFolders();
    const sources = hashSources();
    execFileSync('node_modules/.bin/tsc', ['--outDir', folder], { stdio: 'inherit' });
    const esbuild = await import('esbuild');
    await esbuild.build(getBundleOptions(folder));
    chmodSync(join(folder, CLI), 0o755);
    publish(folder, sources);
  } catch (error) {
    // Errors of the compilers have been printed: those of tsc have a `status`, those of esbuild have `errors`.
    if (error.status === undefined && error.errors === undefined) throw error;
    process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(LOCK, { force: true });
  }
}

/** Waits until no other process builds in this checkout. */
async function lock() {
  for (let isWaiting = false; ; isWaiting = true) {
    try {
      symlinkSync(String(process.pid), LOCK);
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      if (isAbandoned()) rmSync(LOCK, { force: true });
      else if (!isWaiting) process.stderr.write('Another process is building. Waiting for it.\n');
      await delay(LOCK_INTERVAL_MS);
    }
  }
}

function isAbandoned() {
  try {
    const pid = Number(readlinkSync(LOCK));
    // A killed process of a container may have had the same ID as this process.
    return pid === process.pid || !isRunning(pid) || Date.now() - lstatSync(LOCK).mtimeMs > LOCK_TTL_MS;
  } catch (error) {
    if (error.code === 'ENOENT') return false;
    throw error;
  }
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Removes the folders of builds that were killed. */
function removeAbandonedFolders() {
  for (const name of readdirSync('.')) {
    const pid = /^dist\.(\d+)$/.exec(name)?.[1];
    if (pid && !isRunning(Number(pid))) rmSync(name, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * Moves the files of a build into `dist`. Each move is atomic, so no file is ever missing or incomplete. A process loads the
 * chunks of one build only: their names contain their hashes, and `main.js` and `cli.js` are moved after them.
 */
function publish(folder, sources) {
  const previous = readManifest();
  const rank = (file) => [MAIN, CLI].indexOf(file);
  const files = listFiles(folder).sort((a, b) => rank(a) - rank(b));
  const builtAt = Date.now();
  writeFileSync(join(folder, MANIFEST), JSON.stringify({ sources, builtAt, files }));
  for (const file of [...files, MANIFEST]) {
    mkdirSync(dirname(join('dist', file)), { recursive: true });
    renameSync(join(folder, file), join('dist', file));
  }
  // The chunks of the previous build are always kept. Those of older builds are removed if the previous build is older than the TTL.
  const shouldKeepOldChunks = !previous || builtAt - previous.builtAt < OLD_CHUNKS_TTL_MS;
  const retained = new Set([...files, MANIFEST, ...(previous?.files.filter((file) => file.startsWith(CHUNKS)) ?? [])]);
  for (const file of listFiles('dist')) {
    if (!retained.has(file) && !(shouldKeepOldChunks && file.startsWith(CHUNKS)))
      rmSync(join('dist', file), { force: true });
  }
}

/** Bundles the sources and starts the server, and does both again after each change. Does not check types. */
async function watch() {
  const folder = `dist.${process.pid}`;
  let server;
  // The second signal aborts the graceful shutdown.
  const stop = async () => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    for (const signal of ['SIGTERM', 'SIGINT']) server.kill(signal);
    await once(server, 'exit');
  };
  const restart = {
    name: 'restart',
    setup({ onEnd }) {
      onEnd(async ({ errors }) => {
        if (errors.length > 0) return;
        await stop();
        server = spawn(process.execPath, ['--enable-source-maps', join(folder, MAIN)], { stdio: 'inherit' });
      });
    },
  };
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
      process.exit(0);
    });
  }
  const esbuild = await import('esbuild');
  const context = await esbuild.context({ ...getBundleOptions(folder), plugins: [restart], logLevel: 'warning' });
  await context.watch();
}

/** Returns the options with which esbuild bundles the server and the command line into a few files. */
function getBundleOptions(folder) {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  return {
    entryPoints: ['bootstrap/main.ts', 'bootstrap/cli.ts'],
    outdir: join(folder, 'bootstrap'),
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: Object.keys(dependencies).filter((name) => !BUNDLED_PACKAGES.includes(name)),
    sourcemap: true,
    sourcesContent: false,
  };
}
