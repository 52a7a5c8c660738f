import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/compose.ts';
import { readBuildContext, readDockerfile } from '../support/dockerfile.ts';
import { suite } from '../support/suite.ts';

suite('Dockerfile', {
  'starts from one exact version of Node 24': async () => {
    const bases = (await readDockerfile()).filter(({ keyword }) => keyword === 'FROM').map(({ args }) => args);
    assert.match(bases[0] as string, /^node:24\.\d+\.\d+-[a-z]+-slim AS base$/);
    for (const other of bases.slice(1)) assert.match(other, /^base\b/);
  },

  'copies all files that .dockerignore includes, and each of them exists': async () => {
    const copied = (await readDockerfile())
      .filter(({ keyword, args }) => keyword === 'COPY' && !args.startsWith('--from'))
      .flatMap(({ args }) => args.split(' ').slice(0, -1));
    const context = await readBuildContext();
    assert.deepEqual([...new Set(copied)].sort(), context.toSorted());
    for (const name of context) assert.ok(existsSync(join(root, name)), name);
  },
});
