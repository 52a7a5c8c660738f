import { chmodSync, readFileSync } from 'node:fs';
import { build } from 'esbuild';

// Writes what a process is started with (docs/adr/0001-the-build.md).

/** ES modules of many files; all other packages are loaded from where npm put them. */
const BUNDLED = ['inversify', 'uuid', 'zod'];

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

await build({
  entryPoints: ['bootstrap/main.ts', 'bootstrap/cli.ts'],
  outdir: 'dist/bootstrap',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: Object.keys(dependencies).filter((name) => !BUNDLED.includes(name)),
  sourcemap: true,
  sourcesContent: false,
});
chmodSync('dist/bootstrap/cli.js', 0o755);
