import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/compose.ts';
import { namesForDocker, readDockerfile } from '../support/dockerfile.ts';
import { suite } from '../support/suite.ts';

suite('Dockerfile', {
  'begins with an exact version of Node 24, named once': async () => {
    const bases = (await readDockerfile()).filter(({ word }) => word === 'FROM').map(({ rest }) => rest);
    assert.match(bases[0] as string, /^node:24\.\d+\.\d+-[a-z]+-slim AS base$/);
    for (const other of bases.slice(1)) assert.match(other, /^base\b/);
  },

  'copies all that is sent to it, which is here, and nothing else is sent': async () => {
    const copied = (await readDockerfile())
      .filter(({ word, rest }) => word === 'COPY' && !rest.startsWith('--from'))
      .flatMap(({ rest }) => rest.split(' ').slice(0, -1));
    const sent = await namesForDocker();
    assert.deepEqual([...new Set(copied)].sort(), sent.toSorted());
    for (const name of sent) assert.ok(existsSync(join(root, name)), name);
  },
});
