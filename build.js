import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs';

// Builds `dist` (docs/adr/0001-build-and-packages.md). With `--watch`, bundles and starts the server, also after each
// change.
process.chdir(import.meta.dirname);
const isWatching = process.argv.includes('--watch');
if (!existsSync('node_modules/typescript')) {
  process.stderr.write('Nothing is built, because the compilers are not installed. Run `npm ci --include=dev`.\n');
  process.exit(process.env.npm_lifecycle_event === 'prepare' ? 0 : 1);
}
if (!isWatching) {
  rmSync('dist', { recursive: true, force: true });
  const { status } = spawnSync('node_modules/.bin/tsc', { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
/** The packages to bundle, because they consist of many ES modules. Node.js loads all others from `node_modules`. */
const bundled = ['inversify', 'uuid', 'zod'];
const packages = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).dependencies);
const { context } = await import('esbuild');
const bundle = await context({
  entryPoints: ['bootstrap/main.ts', 'bootstrap/cli.ts'],
  outdir: 'dist/bootstrap',
  chunkNames: 'chunks/[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: packages.filter((name) => !bundled.includes(name)),
  sourcemap: true,
  sourcesContent: false,
});
await bundle.rebuild();
chmodSync('dist/bootstrap/cli.js', 0o755);
if (isWatching) {
  await bundle.watch();
  const server = spawn(process.execPath, ['--watch', 'dist/bootstrap/main.js'], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => server.kill(signal));
  server.on('exit', (code) => process.exit(code ?? 1));
} else await bundle.dispose();
