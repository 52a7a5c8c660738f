import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix, sep } from 'node:path';
import { suite, type Tests } from '../support/suite.ts';

const root = join(import.meta.dirname, '../../..');
const rooms = ['core', 'adapters', 'bootstrap', 'test'];

interface Source {
  /** From the root of the project, as `core/tag/tag.ts`. */
  readonly path: string;
  readonly text: string;
}

/** Names what breaks a rule in a source. */
type Rule = (source: Source) => string[];

const IMPORT = /\b(?:from|import)\s*\(?\s*['"`]([^\s'"`]+)['"`]|<reference\s+\w+=['"]([^'"]+)['"]/g;

/** What a source imports: the name of a package or of a module of Node, or a path from the root of the project. */
function importsOf({ path, text }: Source): string[] {
  const specifiers = [...text.matchAll(IMPORT)].map(([, imported, referenced]) => imported ?? referenced ?? '');
  return specifiers.map((name) => (name.startsWith('.') ? posix.join(posix.dirname(path), name) : name));
}

function importing(isForbidden: (imported: string, path: string) => boolean): Rule {
  return (source) =>
    importsOf(source)
      .filter((imported) => isForbidden(imported, source.path))
      .map((imported) => `${source.path} imports ${imported}`);
}

/** Whether something is one of the names, or inside of it. */
function isOf(path: string, ...names: readonly string[]): boolean {
  return names.some((name) => path === name || path.startsWith(`${name}/`));
}

const adapterOf = (path: string): string | undefined => /^adapters\/[^/]+/.exec(path)?.[0];
const mayImportApi: readonly (string | undefined)[] = ['adapters/http', 'adapters/cli'];

/** The rules on imports, each with violations that it must see and imports that it must let be. */
const importRules: readonly {
  readonly title: string;
  readonly rule: Rule;
  readonly violations: readonly string[];
  readonly fine: readonly string[];
}[] = [
  {
    title: 'the core imports nothing but the core',
    rule: importing((imported, path) => isOf(path, 'core') && !imported.startsWith('core/')),
    violations: [
      'core/tag/tag.ts imports zod',
      'core/tag/tag.ts imports node:crypto',
      'core/tag/tag.ts imports crypto',
      'core/tag/tag.ts imports ../../adapters/memory/storage.ts',
      'core/tag/tag.ts imports ../../bootstrap/system.ts',
      'core/storage.ts imports ../test/support/core.ts',
      'core/storage.ts imports ../core-of-another/tag.ts',
    ],
    fine: [
      'core/tag/tag.ts imports ../shared/text.ts',
      'core/tag/tag-service.ts imports ./tag.ts',
      'adapters/api/tag.ts imports zod',
    ],
  },
  {
    title: 'only bootstrap imports Inversify and reflect-metadata',
    rule: importing((imported, path) => isOf(imported, 'inversify', 'reflect-metadata') && !isOf(path, 'bootstrap')),
    violations: [
      'core/tag/tag-service.ts imports inversify',
      'adapters/http/http-server.ts imports inversify',
      'adapters/memory/storage.ts imports reflect-metadata',
      'adapters/memory/storage.ts imports reflect-metadata/lite',
      'test/support/service.ts imports inversify',
    ],
    fine: ['bootstrap/container.ts imports inversify', 'bootstrap/container.ts imports reflect-metadata'],
  },
  {
    title: 'an adapter imports of the project the core and itself alone, http and cli the api too',
    rule: importing((imported, path) => {
      const adapter = adapterOf(path);
      if (adapter === undefined || !isOf(imported, ...rooms)) return false;
      const isApi = isOf(imported, 'adapters/api') && mayImportApi.includes(adapter);
      return !isApi && !isOf(imported, 'core', adapter);
    }),
    violations: [
      'adapters/mongodb/record-store.ts imports ../memory/condition.ts',
      'adapters/memory/storage.ts imports ../memory-of-another/storage.ts',
      'adapters/memory/storage.ts imports ../api/operation.ts',
      'adapters/api/tag.ts imports ../http/query-string.ts',
      'adapters/http/http-server.ts imports ../memory/rate-limiter.ts',
      'adapters/http/http-server.ts imports ../cli/main.ts',
      'adapters/cli/main.ts imports ../http/http-server.ts',
      'adapters/http/http-server.ts imports ../../bootstrap/settings.ts',
      'adapters/http/http-server.ts imports ../../test/support/service.ts',
    ],
    fine: [
      'adapters/http/http-server.ts imports ../api/operations.ts',
      'adapters/cli/main.ts imports ../api/operations.ts',
      'adapters/http/http-server.ts imports ./query-string.ts',
      'adapters/memory/storage.ts imports ../../core/storage.ts',
      'adapters/memory/storage.ts imports rate-limiter-flexible',
      'bootstrap/container.ts imports ../adapters/memory/storage.ts',
    ],
  },
  {
    title: 'only test/support/suite.ts imports uvu',
    rule: importing((imported, path) => isOf(imported, 'uvu') && path !== 'test/support/suite.ts'),
    violations: [
      'test/core/tag.test.ts imports uvu',
      'test/core/tag.test.ts imports uvu/assert',
      'test/support/service.ts imports uvu',
      'core/tag/tag.ts imports uvu',
    ],
    fine: ['test/support/suite.ts imports uvu'],
  },
];

const CLOCK_OR_CHANCE = /\bDate\.now\b|\bDate\s*\(\s*\)|\bnew Date\b(?!\s*\()|\bMath\.random\b/g;

/** Node 20 rejects valid URLs with it (adapters/api/url.ts). */
const CAN_PARSE = /\bURL\s*\.\s*canParse\b|\bcanParse\b[^;=]*=\s*URL\b/g;

const doesNotAskCanParse: Rule = ({ path, text }) =>
  path === 'test/architecture/architecture.test.ts'
    ? []
    : [...text.matchAll(CAN_PARSE)].map(([found]) => `${path} has ${found}`);

const hasNoClockAndNoChance: Rule = ({ path, text }) =>
  isOf(path, 'core') ? [...text.matchAll(CLOCK_OR_CHANCE)].map(([found]) => `${path} has ${found}`) : [];

function sources(): Source[] {
  return rooms.flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.split(sep).includes('node_modules'))
      .map((file) => ({
        path: `${room}/${file.split(sep).join('/')}`,
        text: readFileSync(join(root, room, file), 'utf8'),
      })),
  );
}

/** A source that imports what `core/tag/tag.ts imports zod` says. */
function planted(says: string): Source {
  const [path, imported] = says.split(' imports ') as [string, string];
  return { path, text: `import { thing } from '${imported}';` };
}

const importTests: Tests = importRules.map(({ title, rule, violations, fine }) => [
  title,
  () => {
    assert.deepEqual(sources().flatMap(rule), []);
    for (const violation of violations) assert.equal(rule(planted(violation)).length, 1, violation);
    for (const allowed of fine) assert.deepEqual(rule(planted(allowed)), []);
  },
]);

/** What the compiler says of a project, line by line. */
function compile(project: string): string[] {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', project, '--pretty', 'false'], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line !== '');
}

suite('the architecture', importTests, {
  'is looked at in every room, and in every form of an import': () => {
    for (const room of rooms)
      assert.ok(
        sources().some(({ path }) => isOf(path, room)),
        room,
      );
    const forms = [
      `import thing from 'seen';`,
      `import thing, { type Other } from "seen";`,
      `import * as thing from 'seen';`,
      `import type { Thing } from 'seen';`,
      `import {\n  thing,\n  other,\n} from 'seen';`,
      `import 'seen';`,
      `import'seen'`,
      `export { thing } from 'seen';`,
      `export * from 'seen';`,
      `const thing = await import('seen');`,
      'const thing = await import(\n  `seen`,\n);',
      `type Thing = import('seen').Thing;`,
      `/// <reference types="seen" />`,
    ];
    for (const text of forms) assert.deepEqual(importsOf({ path: 'core/tag/tag.ts', text }), ['seen'], text);
  },

  'the core asks neither the clock nor chance': () => {
    assert.deepEqual(sources().flatMap(hasNoClockAndNoChance), []);
    const calls = [
      'Date.now()',
      'new Date()',
      'new Date( )',
      'new Date;',
      'Date()',
      'Math.random()',
      '{ now: Date.now }',
    ];
    for (const text of calls) assert.equal(hasNoClockAndNoChance({ path: 'core/tag/tag.ts', text }).length, 1, text);
    const fine = 'new Date(now), new Date(\n  now), Date.parse(text), Date.UTC(2026), Math.min(1, 2), startDate()';
    assert.deepEqual(hasNoClockAndNoChance({ path: 'core/tag/tag.ts', text: fine }), []);
    assert.deepEqual(hasNoClockAndNoChance({ path: 'adapters/http/http-server.ts', text: 'Date.now()' }), []);
  },

  'no source validates URLs with URL.canParse': () => {
    assert.deepEqual(sources().flatMap(doesNotAskCanParse), []);
    const uses = ['URL.canParse(text)', '.every(URL.canParse)', 'URL\n  .canParse(text)', 'const { canParse } = URL;'];
    for (const text of uses) assert.equal(doesNotAskCanParse({ path: 'adapters/api/url.ts', text }).length, 1, text);
    assert.deepEqual(doesNotAskCanParse({ path: 'adapters/api/url.ts', text: 'new URL(text)' }), []);
  },

  'the core compiles, and would not with a word of the machine that it runs on': () => {
    assert.deepEqual(compile(join(root, 'core')), []);
    const words = ['URL', 'crypto', 'setTimeout', 'console', 'process', 'Buffer', 'fetch', 'performance', 'document'];
    const folder = mkdtempSync(join(tmpdir(), 'core-'));
    try {
      const settings = { extends: join(root, 'core/tsconfig.json'), compilerOptions: { rootDir: '.' }, include: ['.'] };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
      writeFileSync(join(folder, 'planted.ts'), words.map((word) => `${word};\n`).join(''));
      const missing = compile(folder).map((line) => /planted\.ts.*Cannot find name '(\w+)'/.exec(line)?.[1] ?? line);
      assert.deepEqual(missing, words);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
});
