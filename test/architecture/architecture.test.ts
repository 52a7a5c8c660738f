import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { globalStoreNames, recordSchemas } from '../../adapters/persistence/storage-engine.ts';
import { rateLimiters, storages } from '../../bootstrap/adapters.ts';
import { suite, type Tests } from '../support/suite.ts';
import { withTemporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '../../..');
const layers = ['core', 'adapters', 'bootstrap', 'clients', 'test'];

interface Source {
  /** The path from the root of the project, such as `core/tag/tag.ts`. */
  readonly path: string;
  readonly text: string;
}

/** Checks a rule, and returns its violations in a source. */
type Rule = (source: Source) => string[];

const IMPORT = /\b(?:from|import)\s*\(?\s*['"`]([^\s'"`]+)['"`]|<reference\s+\w+=['"]([^'"]+)['"]/g;

/** Returns the imports of a source: names of packages and Node modules, and paths from the root of the project. */
function importsOf({ path, text }: Source): string[] {
  const specifiers = [...text.matchAll(IMPORT)].map(([, imported, referenced]) => imported ?? referenced ?? '');
  return specifiers.map((name) => (name.startsWith('.') ? posix.join(posix.dirname(path), name) : name));
}

function forbidImports(isForbidden: (imported: string, path: string) => boolean): Rule {
  return (source) =>
    importsOf(source)
      .filter((imported) => isForbidden(imported, source.path))
      .map((imported) => `${source.path} imports ${imported}`);
}

/** Returns whether a path is one of the names, or inside of a folder with one of the names. */
function isIn(path: string, ...names: readonly string[]): boolean {
  return names.some((name) => path === name || path.startsWith(`${name}/`));
}

const adapterOf = (path: string): string | undefined => /^adapters\/[^/]+/.exec(path)?.[0];

/** The files with the interfaces that a storage engine implements. */
const enginePort = ['adapters/persistence/record-store.ts', 'adapters/persistence/storage-engine.ts'];

const storageEngines = Object.keys(storages).map((name) => `adapters/${name}`);

/** The files and folders of other adapters that an adapter may import. */
const sharedFiles: Readonly<Record<string, readonly string[]>> = {
  'adapters/http': ['adapters/api', 'adapters/logging/serialize-error.ts'],
  'adapters/cli': ['adapters/api', 'adapters/logging/terminal-text.ts'],
  'adapters/links': [
    'adapters/api/url.ts',
    'adapters/http/client-address.ts',
    'adapters/http/protection/protection.ts',
    'adapters/http/trust-proxy.ts',
    'adapters/logging/outage-log.ts',
    'adapters/logging/serialize-error.ts',
    'adapters/node/loading-cache.ts',
    'adapters/node/with-timeout.ts',
  ],
  'adapters/memory': enginePort,
  'adapters/mongodb': [...enginePort, 'adapters/logging/outage-log.ts'],
  'adapters/sqlite': enginePort,
  'adapters/prometheus': ['adapters/persistence/storage-engine.ts'],
  'adapters/redis': ['adapters/logging/outage-log.ts', 'adapters/node/with-timeout.ts'],
};

/** The rules for imports. Each has examples: violations that it must find, and imports that it must allow. */
const importRules: readonly {
  readonly title: string;
  readonly rule: Rule;
  readonly violations: readonly string[];
  readonly allowed: readonly string[];
}[] = [
  {
    title: 'lets the core import nothing but the core',
    rule: forbidImports((imported, path) => isIn(path, 'core') && !imported.startsWith('core/')),
    violations: [
      'core/tag/tag.ts imports zod',
      'core/tag/tag.ts imports node:crypto',
      'core/tag/tag.ts imports crypto',
      'core/tag/tag.ts imports ../../adapters/memory/engine.ts',
      'core/tag/tag.ts imports ../../bootstrap/settings.ts',
      'core/storage.ts imports ../test/support/core.ts',
      'core/storage.ts imports ../core-of-another/tag.ts',
    ],
    allowed: [
      'core/tag/tag.ts imports ../shared/text.ts',
      'core/tag/tag-service.ts imports ./tag.ts',
      'adapters/api/tag.ts imports zod',
    ],
  },
  {
    title: 'lets only bootstrap/container.ts import Inversify and reflect-metadata',
    rule: forbidImports(
      (imported, path) => isIn(imported, 'inversify', 'reflect-metadata') && path !== 'bootstrap/container.ts',
    ),
    violations: [
      'core/tag/tag-service.ts imports inversify',
      'bootstrap/start-server.ts imports inversify',
      'adapters/http/http-server.ts imports inversify',
      'adapters/memory/engine.ts imports reflect-metadata',
      'adapters/memory/engine.ts imports reflect-metadata/lite',
      'test/support/service.ts imports inversify',
    ],
    allowed: ['bootstrap/container.ts imports inversify', 'bootstrap/container.ts imports reflect-metadata'],
  },
  {
    title: 'lets a storage engine import no entities and no use cases of the core',
    rule: forbidImports(
      (imported, path) =>
        isIn(path, ...storageEngines) &&
        isIn(imported, 'core') &&
        !isIn(imported, 'core/shared', 'core/storage.ts', 'core/access/rate-limiter.ts'),
    ),
    violations: [
      'adapters/sqlite/list.ts imports ../../core/tag/tag.ts',
      'adapters/mongodb/engine.ts imports ../../core/campaign/campaign.ts',
      'adapters/memory/engine.ts imports ../../core/application.ts',
    ],
    allowed: [
      'adapters/sqlite/list.ts imports ../../core/shared/entity.ts',
      'adapters/persistence/tags.ts imports ../../core/tag/tag.ts',
    ],
  },
  {
    title: 'lets an adapter import no source except the core, itself and the files in `sharedFiles`',
    rule: forbidImports((imported, path) => {
      const adapter = adapterOf(path);
      if (adapter === undefined || !isIn(imported, ...layers)) return false;
      return !isIn(imported, 'core', adapter, ...(sharedFiles[adapter] ?? []));
    }),
    violations: [
      'adapters/mongodb/record-store.ts imports ../memory/table.ts',
      'adapters/mongodb/record-store.ts imports ../persistence/tags.ts',
      'adapters/persistence/tags.ts imports ../mongodb/engine.ts',
      'adapters/memory/engine.ts imports ../memory-of-another/storage.ts',
      'adapters/memory/engine.ts imports ../api/operation.ts',
      'adapters/api/tag.ts imports ../http/query-string.ts',
      'adapters/http/http-server.ts imports ../memory/rate-limiter.ts',
      'adapters/http/http-server.ts imports ../cli/main.ts',
      'adapters/cli/main.ts imports ../http/http-server.ts',
      'adapters/logging/message-log.ts imports ../cli/output.ts',
      'adapters/cli/output.ts imports ../logging/message-log.ts',
      'adapters/http/http-server.ts imports ../../bootstrap/settings.ts',
      'adapters/http/http-server.ts imports ../../test/support/service.ts',
    ],
    allowed: [
      'adapters/http/http-server.ts imports ../api/operations.ts',
      'adapters/cli/main.ts imports ../api/operations.ts',
      'adapters/http/http-server.ts imports ./query-string.ts',
      'adapters/cli/output.ts imports ../logging/terminal-text.ts',
      'adapters/memory/engine.ts imports ../persistence/record-store.ts',
      'adapters/persistence/tags.ts imports ../../core/tag/tag-repository.ts',
      'adapters/memory/engine.ts imports rate-limiter-flexible',
      'bootstrap/container.ts imports ../adapters/memory/engine.ts',
    ],
  },
  {
    title: 'lets code outside of adapters/http/protection import only protection.ts from this folder',
    rule: forbidImports(
      (imported, path) =>
        isIn(imported, 'adapters/http/protection') &&
        imported !== 'adapters/http/protection/protection.ts' &&
        !isIn(path, 'adapters/http/protection', 'test'),
    ),
    violations: [
      'adapters/http/http-server.ts imports ./protection/admission.ts',
      'adapters/links/link-server.ts imports ../http/protection/limited-addresses.ts',
      'bootstrap/container.ts imports ../adapters/http/protection/memory-budget.ts',
    ],
    allowed: [
      'adapters/http/http-server.ts imports ./protection/protection.ts',
      'adapters/http/protection/protection.ts imports ./admission.ts',
      'test/http/overload.test.ts imports ../../adapters/http/protection/admission.ts',
    ],
  },
  {
    title: 'lets a client import nothing but itself, and lets only tests import a client',
    rule: forbidImports(
      (imported, path) =>
        (isIn(path, 'clients') && !isIn(imported, path.split('/').slice(0, 2).join('/'))) ||
        (isIn(imported, 'clients') && !isIn(path, 'clients', 'test')),
    ),
    violations: [
      'clients/typescript/client.ts imports node:crypto',
      'clients/typescript/client.ts imports zod',
      'clients/typescript/client.ts imports ../../core/shared/text.ts',
      'clients/typescript/client.ts imports ../python/client.ts',
      'adapters/http/http-server.ts imports ../../clients/typescript/client.ts',
    ],
    allowed: [
      'clients/typescript/client.ts imports ./schema.ts',
      'test/client/example.ts imports ../../clients/typescript/client.ts',
    ],
  },
  {
    title: 'lets only adapters/sqlite/database.ts import a library of SQLite',
    rule: forbidImports(
      (imported, path) =>
        isIn(imported, '@photostructure/sqlite', 'node:sqlite') && path !== 'adapters/sqlite/database.ts',
    ),
    violations: [
      'adapters/sqlite/file.ts imports @photostructure/sqlite',
      'adapters/sqlite/connection.ts imports node:sqlite',
      'bootstrap/adapters.ts imports @photostructure/sqlite',
      'test/sqlite/file.test.ts imports @photostructure/sqlite',
    ],
    allowed: [
      'adapters/sqlite/database.ts imports @photostructure/sqlite',
      'test/sqlite/file.test.ts imports ../../adapters/sqlite/database.ts',
    ],
  },
  {
    title: 'lets only test/support/suite.ts import uvu',
    rule: forbidImports((imported, path) => isIn(imported, 'uvu') && path !== 'test/support/suite.ts'),
    violations: [
      'test/core/tag.test.ts imports uvu',
      'test/core/tag.test.ts imports uvu/assert',
      'test/support/service.ts imports uvu',
      'core/tag/tag.ts imports uvu',
    ],
    allowed: ['test/support/suite.ts imports uvu'],
  },
];

/** The adapters and the file that bootstrap may load in every process. It must load the others with `import()` when needed. */
const ALWAYS_LOADED = ['api', 'cli', 'logging', 'node', 'persistence', 'samples', 'http/trust-proxy.ts'].map(
  (path) => `adapters/${path}`,
);

const STATIC_IMPORT = /^import (?!type\b)[^;]*?'(\.[^']+)'/gm;

/** Finds adapters that bootstrap loads even if they are not needed. An import of types loads nothing. */
const forbidEarlyLoading: Rule = ({ path, text }) =>
  [...text.matchAll(STATIC_IMPORT)]
    .map(([, imported = '']) => posix.join(posix.dirname(path), imported))
    .filter((imported) => isIn(path, 'bootstrap') && isIn(imported, 'adapters'))
    .filter((imported) => !isIn(imported, ...ALWAYS_LOADED))
    .map((imported) => `${path} loads ${imported}`);

const ADAPTER_NAMES = [...Object.keys(storages), ...Object.keys(rateLimiters)].join('|');
const COMPARISON = new RegExp(
  `(?:[!=]==?|\\bcase)\\s*['"\`](?:${ADAPTER_NAMES})\\b|['"\`](?:${ADAPTER_NAMES})['"\`]\\s*[!=]==?`,
  'g',
);

/** Finds decisions by the name of an adapter. The tables of bootstrap/adapters.ts state capabilities instead. */
const forbidAdapterNames: Rule = ({ path, text }) =>
  isIn(path, 'test') ? [] : [...text.matchAll(COMPARISON)].map(([found]) => `${path} has ${found}`);

const CLOCK_OR_RANDOMNESS = /\bDate\.now\b|\bDate\s*\(\s*\)|\bnew Date\b(?!\s*\()|\bMath\.random\b/g;

/** Uses of `URL.canParse`, which rejects some valid URLs in Node 20 and 22 (adapters/api/url.ts). */
const CAN_PARSE = /\bURL\s*\.\s*canParse\b|\bcanParse\b[^;=]*=\s*URL\b/g;

const forbidCanParse: Rule = ({ path, text }) =>
  path === 'test/architecture/architecture.test.ts'
    ? []
    : [...text.matchAll(CAN_PARSE)].map(([found]) => `${path} has ${found}`);

const forbidClockAndRandomness: Rule = ({ path, text }) =>
  isIn(path, 'core') ? [...text.matchAll(CLOCK_OR_RANDOMNESS)].map(([found]) => `${path} has ${found}`) : [];

/** Terms of protocols, databases and engines, which the core must not contain. */
const FOREIGN_TERMS =
  /\b(?:HTTP|headers?|Bearer|Authorization|Idempotency-Key|MongoDB|SQL(?:ite)?|Redis|Express|V8)\b/gi;

const forbidForeignTerms: Rule = ({ path, text }) =>
  isIn(path, 'core') ? [...text.matchAll(FOREIGN_TERMS)].map(([found]) => `${path} has ${found}`) : [];

const STORE_NAMES = new RegExp(`\\b(?:${[...Object.keys(recordSchemas), ...globalStoreNames].join('|')})\\b`, 'g');
const COMMENT_LINES = /^\s*(?:\/?\*|\/\/).*$/gm;

/** Finds the names of stores in storage engines, which must treat all stores alike. */
const forbidStoreNames: Rule = ({ path, text }) =>
  isIn(path, ...storageEngines)
    ? [...text.replaceAll(COMMENT_LINES, '').matchAll(STORE_NAMES)].map(([found]) => `${path} has ${found}`)
    : [];

const EXPORT = /^export (?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;

/** Finds exported names that several sources declare. The clients of the API are excluded: their users see no other names. */
function findRepeatedNames(sources: readonly Source[]): string[] {
  const pathsByName = new Map<string, Set<string>>();
  for (const { path, text } of sources.filter((source) => !isIn(source.path, 'clients'))) {
    for (const [, name = ''] of text.matchAll(EXPORT)) {
      pathsByName.set(name, (pathsByName.get(name) ?? new Set()).add(path));
    }
  }
  return [...pathsByName]
    .filter(([, paths]) => paths.size > 1)
    .map(([name, paths]) => `${name} is declared in ${[...paths].join(' and ')}`);
}

function readSources(): Source[] {
  return layers.flatMap((layer) =>
    readdirSync(join(root, layer), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.split(sep).includes('node_modules'))
      .map((file) => ({
        path: `${layer}/${file.split(sep).join('/')}`,
        text: readFileSync(join(root, layer, file), 'utf8'),
      })),
  );
}

/** Returns the circular imports among sources, including imports of types. */
function findCircularImports(sources: readonly Source[]): string[] {
  const imports = new Map(sources.map((source) => [source.path, importsOf(source)]));
  const done = new Set<string>();
  const visit = (path: string, importers: readonly string[]): string[] => {
    if (importers.includes(path)) return [[...importers.slice(importers.indexOf(path)), path].join(' imports ')];
    if (done.has(path)) return [];
    done.add(path);
    return (imports.get(path) ?? []).flatMap((imported) => visit(imported, [...importers, path]));
  };
  return sources.flatMap(({ path }) => visit(path, []));
}

/** Returns a source with an import, described as in `core/tag/tag.ts imports zod`. */
function plantImport(description: string): Source {
  const [path, imported] = description.split(' imports ') as [string, string];
  return { path, text: `import { thing } from '${imported}';` };
}

const importTests: Tests = importRules.map(({ title, rule, violations, allowed }) => [
  title,
  () => {
    assert.deepEqual(readSources().flatMap(rule), []);
    for (const violation of violations) assert.equal(rule(plantImport(violation)).length, 1, violation);
    for (const description of allowed) assert.deepEqual(rule(plantImport(description)), []);
  },
]);

/** Returns the lines that the TypeScript compiler prints for the project in a folder. */
function compile(project: string): string[] {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', project, '--pretty', 'false'], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line !== '');
}

suite('The architecture', importTests, {
  'is checked in the sources of every layer, and for every form of an import': () => {
    for (const layer of layers)
      assert.ok(
        readSources().some(({ path }) => isIn(path, layer)),
        layer,
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

  'has no circular imports': () => {
    assert.deepEqual(findCircularImports(readSources()), []);
    const descriptions = ['core/a.ts imports ./b.ts', 'core/b.ts imports ./c.ts', 'core/c.ts imports ./b.ts'];
    const circle = 'core/b.ts imports core/c.ts imports core/b.ts';
    assert.deepEqual(findCircularImports(descriptions.map(plantImport)), [circle]);
    assert.deepEqual(findCircularImports(descriptions.slice(0, 2).map(plantImport)), []);
  },

  'has no exported name that two sources declare': () => {
    assert.deepEqual(findRepeatedNames(readSources()), []);
    const declarations = ['const thing = 1;', 'async function thing() {}', 'function* thing() {}', 'type thing = 1;'];
    for (const text of declarations) {
      const sources = [
        { path: 'core/tag/tag.ts', text: 'export interface thing {}\nexport interface other {}' },
        { path: 'adapters/api/tag.ts', text: `\nexport ${text}` },
      ];
      assert.deepEqual(
        findRepeatedNames(sources),
        ['thing is declared in core/tag/tag.ts and adapters/api/tag.ts'],
        text,
      );
    }
    const allowed = [
      'export class thing {}\nexport type other = 1;',
      `export { thing } from './a.ts';\nexport * from './a.ts';`,
      'const thing = 1;\nfunction other() {}',
    ];
    assert.deepEqual(findRepeatedNames(allowed.map((text, i) => ({ path: `core/${i}.ts`, text }))), []);
  },

  'lets bootstrap load adapters only with `import()`, except those in `ALWAYS_LOADED`': () => {
    assert.deepEqual(readSources().flatMap(forbidEarlyLoading), []);
    const loads = [
      `import { createMongodbEngine } from '../adapters/mongodb/engine.ts';`,
      `import {\n  type Observer,\n  Responder,\n} from '../adapters/http/responder.ts';`,
      `import '../adapters/redis/rate-limiter.ts';`,
    ];
    for (const text of loads) assert.equal(forbidEarlyLoading({ path: 'bootstrap/settings.ts', text }).length, 1, text);
    const allowed = [
      `import type { Metrics } from '../adapters/prometheus/metrics.ts';`,
      `const { Metrics } = await import('../adapters/prometheus/metrics.ts');`,
      `import { isUrl } from '../adapters/api/url.ts';`,
      `import { startServer } from './start-server.ts';`,
    ];
    assert.deepEqual(forbidEarlyLoading({ path: 'bootstrap/settings.ts', text: allowed.join('\n') }), []);
  },

  'lets no source except tests decide by the name of a storage engine or of a rate limiter': () => {
    assert.deepEqual(readSources().flatMap(forbidAdapterNames), []);
    const decisions = [
      `if (settings.STORAGE === 'memory')`,
      `STORAGE !== "mongodb"`,
      `'redis' === limiter`,
      `case 'mongodb':`,
      `if (uri == \`mongodb://localhost\`)`,
    ];
    for (const text of decisions) assert.equal(forbidAdapterNames({ path: 'bootstrap/demo.ts', text }).length, 1, text);
    const allowed = `oneOf('memory', 'mongodb'), { memory: true }, import { Redis } from 'mongodb', kind === 'memories'`;
    assert.deepEqual(forbidAdapterNames({ path: 'bootstrap/demo.ts', text: allowed }), []);
  },

  'lets no storage engine contain the name of a store': () => {
    assert.deepEqual(readSources().flatMap(forbidStoreNames), []);
    const uses = [`collection('credentials')`, 'SELECT 1 FROM campaigns', 'storage.tags.get(id)', `case 'shares':`];
    for (const text of uses) assert.equal(forbidStoreNames({ path: 'adapters/sqlite/list.ts', text }).length, 1, text);
    const allowed = '/** Such as a list of campaigns. */\n  // Of campaigns.\ncollection(name)';
    assert.deepEqual(forbidStoreNames({ path: 'adapters/sqlite/list.ts', text: allowed }), []);
    assert.deepEqual(forbidStoreNames({ path: 'adapters/persistence/tags.ts', text: 'tags' }), []);
  },

  'has tables of adapters that do not compile if an adapter is missing': () => {
    const { memory } = storages;
    // @ts-expect-error
    assert.ok({ memory } satisfies typeof storages);
    // @ts-expect-error
    assert.ok({ memory: rateLimiters.memory } satisfies typeof rateLimiters);
  },

  'lets the core use neither the clock nor randomness': () => {
    assert.deepEqual(readSources().flatMap(forbidClockAndRandomness), []);
    const calls = [
      'Date.now()',
      'new Date()',
      'new Date( )',
      'new Date;',
      'Date()',
      'Math.random()',
      '{ now: Date.now }',
    ];
    for (const text of calls) assert.equal(forbidClockAndRandomness({ path: 'core/tag/tag.ts', text }).length, 1, text);
    const allowed = 'new Date(now), new Date(\n  now), Date.parse(text), Date.UTC(2026), Math.min(1, 2), startDate()';
    assert.deepEqual(forbidClockAndRandomness({ path: 'core/tag/tag.ts', text: allowed }), []);
    assert.deepEqual(forbidClockAndRandomness({ path: 'adapters/http/http-server.ts', text: 'Date.now()' }), []);
  },

  'lets the core contain no term of a protocol or a database': () => {
    assert.deepEqual(readSources().flatMap(forbidForeignTerms), []);
    const uses = ["'Authorization: Bearer'", '// an HTTP status', 'const header = 1;', '/** As in MongoDB. */'];
    for (const text of uses) assert.ok(forbidForeignTerms({ path: 'core/tag/tag.ts', text }).length > 0, text);
    assert.deepEqual(
      forbidForeignTerms({ path: 'core/tag/tag.ts', text: 'https://example.com, status, mongoose' }),
      [],
    );
    assert.deepEqual(forbidForeignTerms({ path: 'adapters/http/http-server.ts', text: 'an HTTP header' }), []);
  },

  'lets no source validate URLs with URL.canParse': () => {
    assert.deepEqual(readSources().flatMap(forbidCanParse), []);
    const uses = ['URL.canParse(text)', '.every(URL.canParse)', 'URL\n  .canParse(text)', 'const { canParse } = URL;'];
    for (const text of uses) assert.equal(forbidCanParse({ path: 'adapters/api/url.ts', text }).length, 1, text);
    assert.deepEqual(forbidCanParse({ path: 'adapters/api/url.ts', text: 'new URL(text)' }), []);
  },

  'compiles the core without the types of Node and browsers, so that a use of their globals is an error': () =>
    withTemporaryFolder(async (folder) => {
      assert.deepEqual(compile(join(root, 'core')), []);
      const globals = [
        'URL',
        'crypto',
        'setTimeout',
        'console',
        'process',
        'Buffer',
        'fetch',
        'performance',
        'document',
      ];
      const tsconfig = { extends: join(root, 'core/tsconfig.json'), compilerOptions: { rootDir: '.' }, include: ['.'] };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
      writeFileSync(join(folder, 'planted.ts'), globals.map((name) => `${name};\n`).join(''));
      const missing = compile(folder).map((line) => /planted\.ts.*Cannot find name '(\w+)'/.exec(line)?.[1] ?? line);
      assert.deepEqual(missing, globals);
    }),
});
