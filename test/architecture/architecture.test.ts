import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { globalStoreNames, recordSchemas } from '../../adapters/persistence/storage-engine.ts';
import { rateLimiters } from '../../bootstrap/rate-limiters.ts';
import { storages } from '../../bootstrap/storages.ts';
import { suite } from '../support/suite.ts';
import { withTemporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '../../..');
const layers = ['core', 'adapters', 'bootstrap', 'clients', 'test'];

interface Source {
  /** The path from the root of the project, such as `core/tag/tag.ts`. */
  readonly path: string;
  readonly text: string;
}

/** Returns what violates a rule in a source. */
type Find = (source: Source) => string[];

/** A rule with planted sources, such as `core/tag/tag.ts imports zod` or `core/tag/tag.ts: new Date()`. */
interface Rule {
  readonly find: Find;
  /** Sources with one violation each. */
  readonly violations: readonly string[];
  readonly allowed: readonly string[];
}

const IMPORT = /\b(?:from|import)\s*\(?\s*['"`]([^\s'"`]+)['"`]|<reference\s+\w+=['"]([^'"]+)['"]/g;

/** Returns the imports of a source: names of packages and Node modules, and paths from the root of the project. */
function importsOf({ path, text }: Source): string[] {
  const specifiers = [...text.matchAll(IMPORT)].map(([, imported, referenced]) => imported ?? referenced ?? '');
  return specifiers.map((name) => (name.startsWith('.') ? posix.join(posix.dirname(path), name) : name));
}

const findImports =
  (isForbidden: (imported: string, path: string) => boolean): Find =>
  (source) =>
    importsOf(source).filter((imported) => isForbidden(imported, source.path));

/** Finds a pattern in the sources of some paths. */
const findText =
  (isConcerned: (path: string) => boolean, pattern: RegExp): Find =>
  ({ path, text }) =>
    isConcerned(path) ? [...text.matchAll(pattern)].map(([found]) => found) : [];

/** Returns whether a path is one of the names, or inside of a folder with one of the names. */
function isIn(path: string, ...names: readonly string[]): boolean {
  return names.some((name) => path === name || path.startsWith(`${name}/`));
}

const adapterOf = (path: string): string | undefined => /^adapters\/[^/]+/.exec(path)?.[0];

/** The files with the interfaces that a storage engine implements, its timeout, and the rule for lists. */
const enginePort = [
  'group-sums.ts',
  'list-plan.ts',
  'record-store.ts',
  'storage-engine.ts',
  'storage-timeout.ts',
  'store-schemas.ts',
].map((file) => `adapters/persistence/${file}`);

const storageEngines = Object.keys(storages).map((name) => `adapters/${name}`);

/** The files and folders of other adapters that an adapter may import. */
const sharedFiles: Readonly<Record<string, readonly string[]>> = {
  'adapters/docs': ['adapters/api'],
  'adapters/http': [
    'adapters/api',
    'adapters/docs/docs-site.ts',
    'adapters/logging/serialize-error.ts',
    'adapters/mcp',
    'adapters/node/loading-cache.ts',
    'adapters/node/with-timeout.ts',
    'adapters/persistence/connection-limit.ts',
    'adapters/persistence/storage-timeout.ts',
  ],
  'adapters/mcp': ['adapters/api'],
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
  'adapters/mongodb': [
    ...enginePort,
    'adapters/logging/outage-log.ts',
    'adapters/node/with-timeout.ts',
    'adapters/persistence/connection-limit.ts',
  ],
  'adapters/sqlite': [...enginePort, 'adapters/node/with-timeout.ts'],
  'adapters/prometheus': [
    'adapters/http/observer.ts',
    'adapters/http/protection/protection.ts',
    'adapters/persistence/connection-limit.ts',
    'adapters/persistence/storage-engine.ts',
  ],
  'adapters/webhooks': [
    'adapters/logging/outage-log.ts',
    'adapters/logging/serialize-error.ts',
    'adapters/node/with-timeout.ts',
  ],
  'adapters/redis': ['adapters/logging/outage-log.ts', 'adapters/node/with-timeout.ts'],
};

const isInCore = (path: string) => isIn(path, 'core');

/**
 * The adapters and the file that bootstrap may load in every process. It must load the others with `import()` when
 * needed.
 */
const ALWAYS_LOADED = ['api', 'cli', 'logging', 'node', 'persistence', 'samples', 'http/trust-proxy.ts'].map(
  (path) => `adapters/${path}`,
);
/** An import that loads a file. An import of types loads nothing. */
const STATIC_IMPORT = /^import (?!type\b)[^;]*?'(\.[^']+)'/gm;
const ADAPTER_NAMES = [...Object.keys(storages), ...Object.keys(rateLimiters)].join('|');
const COMPARISON = new RegExp(
  `(?:[!=]==?|\\bcase)\\s*['"\`](?:${ADAPTER_NAMES})\\b|['"\`](?:${ADAPTER_NAMES})['"\`]\\s*[!=]==?`,
  'g',
);
const STORE_NAMES = new RegExp(`\\b(?:${[...Object.keys(recordSchemas), ...globalStoreNames].join('|')})\\b`, 'g');
const COMMENT_LINES = /^\s*(?:\/?\*|\/\/).*$/gm;

const rules: Readonly<Record<string, Rule>> = {
  'lets the core import nothing but the core': {
    find: findImports((imported, path) => isInCore(path) && !imported.startsWith('core/')),
    violations: [
      'core/tag/tag.ts imports zod',
      'core/tag/tag.ts imports node:crypto',
      'core/tag/tag.ts imports ../../adapters/memory/engine.ts',
      'core/application.ts imports ../core-of-another/tag.ts',
    ],
    allowed: ['core/tag/tag.ts imports ../shared/text.ts', 'adapters/api/tag.ts imports zod'],
  },
  'lets the core use neither the clock nor randomness': {
    find: findText(isInCore, /\bDate\.now\b|\bDate\s*\(\s*\)|\bnew Date\b(?!\s*\()|\bMath\.random\b/g),
    violations: [
      'Date.now()',
      'new Date()',
      'new Date( )',
      'new Date;',
      'Date()',
      'Math.random()',
      '{ n: Date.now }',
    ].map((text) => `core/tag/tag.ts: ${text}`),
    allowed: [
      'core/tag/tag.ts: new Date(now), new Date(\n  now), Date.parse(text), startDate()',
      'adapters/a.ts: Date.now()',
    ],
  },
  'lets the core contain no term of a protocol or a database': {
    find: findText(
      isInCore,
      /\b(?:HTTP|headers?|Bearer|Authorization|Idempotency-Key|MongoDB|SQL(?:ite)?|Redis|Express|V8)\b/gi,
    ),
    violations: ["'Authorization: x'", '// an HTTP status', 'const header = 1;', '/** As in MongoDB. */'].map(
      (text) => `core/tag/tag.ts: ${text}`,
    ),
    allowed: ['core/tag/tag.ts: https://example.com, status, mongoose', 'adapters/a.ts: an HTTP header'],
  },
  'lets each repository of the core list its own methods': {
    find: findText(isInCore, /\b(?:Pick|Omit)<\w*Repository\b|\binterface \w+\s+extends [^{]*Repository\b/g),
    violations: [
      "interface TagRepository extends Pick<Repository<Tag>, 'add'> {",
      'interface TagRepository\n  extends NameRepository<Tag> {',
      "constructor(private readonly tags: Pick<TagRepository, 'add'>)",
    ].map((text) => `core/tag/tag.ts: ${text}`),
    allowed: ['core/tag/tag.ts: interface TagRepository {', 'adapters/a.ts: Pick<TagRepository, "add">'],
  },
  // The maximum of errors in a message is in core/shared, which cannot import core/limits.ts.
  'lets only core/limits.ts define the limits of the API': {
    find: findText(
      (path) => isInCore(path) && !isIn(path, 'core/limits.ts', 'core/shared/core-error.ts'),
      /\bconst (?:MAX|MIN|DEFAULT)_\w+|\bconst \w+_LENGTH\b.* = \{/g,
    ),
    violations: ['const MAX_TAG_PAGE_SIZE = 100;', 'const TITLE_LENGTH = { max: 9 };'].map(
      (text) => `core/tag/tag.ts: ${text}`,
    ),
    allowed: ['core/limits.ts: const MAX_TAG_PAGE_SIZE = 100;', 'core/tag/tag.ts: const KEY_LENGTH = 8;'],
  },
  'lets only bootstrap/container.ts import Inversify and reflect-metadata': {
    find: findImports(
      (imported, path) => isIn(imported, 'inversify', 'reflect-metadata') && path !== 'bootstrap/container.ts',
    ),
    violations: [
      'core/tag/tag-service.ts imports inversify',
      'adapters/memory/engine.ts imports reflect-metadata/lite',
    ],
    allowed: ['bootstrap/container.ts imports inversify', 'bootstrap/container.ts imports reflect-metadata'],
  },
  'lets a storage engine import no entities and no use cases of the core': {
    find: findImports(
      (imported, path) =>
        isIn(path, ...storageEngines) &&
        isIn(imported, 'core') &&
        !isIn(imported, 'core/shared', 'core/access/rate-limiter.ts'),
    ),
    violations: [
      'adapters/sqlite/list.ts imports ../../core/tag/tag.ts',
      'adapters/memory/engine.ts imports ../../core/application.ts',
    ],
    allowed: [
      'adapters/sqlite/list.ts imports ../../core/shared/entity.ts',
      'adapters/persistence/tags.ts imports ../../core/tag/tag.ts',
    ],
  },
  'lets no storage engine contain the name of a store': {
    find: ({ path, text }) =>
      findText((one) => isIn(one, ...storageEngines), STORE_NAMES)({ path, text: text.replaceAll(COMMENT_LINES, '') }),
    violations: ["collection('credentials')", 'SELECT 1 FROM campaigns', 'storage.tags.get(id)'].map(
      (text) => `adapters/sqlite/list.ts: ${text}`,
    ),
    allowed: [
      'adapters/sqlite/list.ts: /** A list of campaigns. */\ncollection(name)',
      'adapters/persistence/tags.ts: tags',
    ],
  },
  'lets an adapter import no source except the core, itself and the files in `sharedFiles`': {
    find: findImports((imported, path) => {
      const adapter = adapterOf(path);
      if (adapter === undefined || !isIn(imported, ...layers)) return false;
      return !isIn(imported, 'core', adapter, ...(sharedFiles[adapter] ?? []));
    }),
    violations: [
      'adapters/mongodb/record-store.ts imports ../persistence/tags.ts',
      'adapters/memory/engine.ts imports ../memory-of-another/storage.ts',
      'adapters/api/tag.ts imports ../http/query-string.ts',
      'adapters/cli/output.ts imports ../logging/message-log.ts',
      'adapters/docs/docs-site.ts imports ../http/responder.ts',
      'adapters/http/docs-routes.ts imports ../docs/reference.ts',
      'adapters/http/http-server.ts imports ../../bootstrap/settings.ts',
      'adapters/http/http-server.ts imports ../../test/support/service.ts',
    ],
    allowed: [
      'adapters/docs/reference.ts imports ../api/operation.ts',
      'adapters/http/docs-routes.ts imports ../docs/docs-site.ts',
      'adapters/http/http-server.ts imports ../api/operations.ts',
      'adapters/cli/output.ts imports ../logging/terminal-text.ts',
      'adapters/memory/engine.ts imports ../persistence/record-store.ts',
      'adapters/persistence/tags.ts imports ../../core/tag/tag-repository.ts',
      'bootstrap/container.ts imports ../adapters/memory/engine.ts',
    ],
  },
  'lets code outside of adapters/http/protection import only protection.ts from this folder': {
    find: findImports(
      (imported, path) =>
        isIn(imported, 'adapters/http/protection') &&
        imported !== 'adapters/http/protection/protection.ts' &&
        !isIn(path, 'adapters/http/protection', 'test'),
    ),
    violations: ['adapters/links/link-server.ts imports ../http/protection/unread-response.ts'],
    allowed: [
      'adapters/http/http-server.ts imports ./protection/protection.ts',
      'adapters/http/protection/protection.ts imports ./admission.ts',
      'test/http/overload.test.ts imports ../../adapters/http/protection/admission.ts',
    ],
  },
  'lets a client import nothing but itself, and lets only tests import a client': {
    find: findImports(
      (imported, path) =>
        (isIn(path, 'clients') && !isIn(imported, path.split('/').slice(0, 2).join('/'))) ||
        (isIn(imported, 'clients') && !isIn(path, 'clients', 'test')),
    ),
    violations: [
      'clients/typescript/client.ts imports zod',
      'clients/typescript/client.ts imports ../python/client.ts',
      'adapters/http/http-server.ts imports ../../clients/typescript/client.ts',
    ],
    allowed: [
      'clients/typescript/client.ts imports ./schema.ts',
      'test/client/example.ts imports ../../clients/typescript/client.ts',
    ],
  },
  'lets only adapters/sqlite/database.ts import a library of SQLite': {
    find: findImports(
      (imported, path) =>
        isIn(imported, '@photostructure/sqlite', 'node:sqlite') && path !== 'adapters/sqlite/database.ts',
    ),
    violations: ['adapters/sqlite/file.ts imports @photostructure/sqlite', 'test/sqlite/a.ts imports node:sqlite'],
    allowed: ['adapters/sqlite/database.ts imports @photostructure/sqlite'],
  },
  'lets only test/support/suite.ts import uvu': {
    find: findImports((imported, path) => isIn(imported, 'uvu') && path !== 'test/support/suite.ts'),
    violations: ['test/core/tag.test.ts imports uvu/assert', 'core/tag/tag.ts imports uvu'],
    allowed: ['test/support/suite.ts imports uvu'],
  },
  'lets bootstrap load adapters only with `import()`, except those in `ALWAYS_LOADED`': {
    find: ({ path, text }) =>
      [...text.matchAll(STATIC_IMPORT)]
        .map(([, imported = '']) => posix.join(posix.dirname(path), imported))
        .filter(
          (imported) => isIn(path, 'bootstrap') && isIn(imported, 'adapters') && !isIn(imported, ...ALWAYS_LOADED),
        ),
    violations: [
      "bootstrap/a.ts: import {\n  type Observer,\n  Responder,\n} from '../adapters/http/responder.ts';",
      "bootstrap/a.ts: import '../adapters/redis/rate-limiter.ts';",
    ],
    allowed: [
      "bootstrap/a.ts: import type { Metrics } from '../adapters/prometheus/metrics.ts';",
      "bootstrap/a.ts: const { Metrics } = await import('../adapters/prometheus/metrics.ts');",
      "bootstrap/a.ts: import { isUrl } from '../adapters/api/url.ts';",
    ],
  },
  // Loading the package takes a tenth of a second.
  'loads the package of MCP only at the first request': {
    find: findText(
      (path) => isIn(path, 'adapters', 'bootstrap') && path !== 'adapters/mcp/mcp-server.ts',
      /^import (?!type\b)[^;]*?'(?:@modelcontextprotocol\/[^']*|[^']*\/mcp-server\.ts)'/gm,
    ),
    violations: ["'../mcp/mcp-server.ts'", "'@modelcontextprotocol/server'"].map(
      (name) => `adapters/http/mcp-route.ts: import { a } from ${name};`,
    ),
    allowed: ["adapters/http/mcp-route.ts: import type { Tool } from '@modelcontextprotocol/server';"],
  },
  // The tables of bootstrap/storages.ts and rate-limiters.ts state capabilities instead.
  'lets no source except tests decide by the name of a storage engine or of a rate limiter': {
    find: findText((path) => !isIn(path, 'test'), COMPARISON),
    violations: ["STORAGE === 'memory'", 'STORAGE !== "mongodb"', "'redis' === limiter", "case 'mongodb':"].map(
      (text) => `bootstrap/demo.ts: ${text}`,
    ),
    allowed: ["bootstrap/demo.ts: oneOf('memory', 'mongodb'), { memory: true }, kind === 'memories'"],
  },
  // In Node 20 and 22, `URL.canParse` rejects some valid URLs (adapters/api/url.ts).
  'lets no source validate URLs with URL.canParse': {
    find: findText(
      (path) => path !== 'test/architecture/architecture.test.ts',
      /\bURL\s*\.\s*canParse\b|\bcanParse\b[^;=]*=\s*URL\b/g,
    ),
    violations: ['adapters/api/url.ts: .every(URL.canParse)', 'adapters/api/url.ts: const { canParse } = URL;'],
    allowed: ['adapters/api/url.ts: new URL(text)'],
  },
};

const EXPORT = /^export (?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;

/**
 * Finds exported names that several sources declare. The clients of the API are excluded: their users see no other
 * names.
 */
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

/**
 * Returns the number of levels of the core. A folder or a file of the core is one level above the highest that it
 * imports. Returns infinity if imports between folders form a circle.
 */
function countLevels(sources: readonly Source[]): number {
  const getFolder = (path: string) => path.split('/').slice(0, 2).join('/');
  const imports = new Map<string, Set<string>>();
  for (const source of sources.filter(({ path }) => isInCore(path))) {
    const folder = getFolder(source.path);
    const found = imports.get(folder) ?? new Set();
    for (const imported of importsOf(source)) if (getFolder(imported) !== folder) found.add(getFolder(imported));
    imports.set(folder, found);
  }
  const getLevel = (folder: string, above: readonly string[]): number =>
    above.includes(folder)
      ? Number.POSITIVE_INFINITY
      : 1 + Math.max(0, ...[...(imports.get(folder) ?? [])].map((it) => getLevel(it, [...above, folder])));
  return Math.max(...[...imports.keys()].map((folder) => getLevel(folder, [])));
}

const sources: readonly Source[] = layers.flatMap((layer) =>
  readdirSync(join(root, layer), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.split(sep).includes('node_modules'))
    .map((file) => ({
      path: `${layer}/${file.split(sep).join('/')}`,
      text: readFileSync(join(root, layer, file), 'utf8'),
    })),
);

/** Returns a source as described in `Rule`. */
function plant(description: string): Source {
  const [path, imported] = description.split(' imports ') as [string, string?];
  if (imported) return { path, text: `import { thing } from '${imported}';` };
  const end = description.indexOf(': ');
  return { path: description.slice(0, end), text: description.slice(end + 2) };
}

/** Returns the lines that the TypeScript compiler prints for the project in a folder. */
function compile(project: string): string[] {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', project, '--pretty', 'false'], { encoding: 'utf8' });
  return stdout.split('\n').filter((line) => line !== '');
}

suite(
  'The architecture',
  Object.entries(rules).map(([title, { find, violations, allowed }]) => [
    title,
    () => {
      for (const source of sources) assert.deepEqual(find(source), [], source.path);
      for (const violation of violations) assert.equal(find(plant(violation)).length, 1, violation);
      for (const description of allowed) assert.deepEqual(find(plant(description)), [], description);
    },
  ]),
  {
    'is checked in the sources of every layer, and for every form of an import': () => {
      for (const layer of layers)
        assert.ok(
          sources.some(({ path }) => isIn(path, layer)),
          layer,
        );
      const forms = [
        `import thing, { type Other } from "seen";`,
        `import * as thing from 'seen';`,
        `import type { Thing } from 'seen';`,
        `import {\n  thing,\n  other,\n} from 'seen';`,
        `import'seen'`,
        `export * from 'seen';`,
        'const thing = await import(\n  `seen`,\n);',
        `type Thing = import('seen').Thing;`,
        `/// <reference types="seen" />`,
      ];
      for (const text of forms) assert.deepEqual(importsOf({ path: 'core/tag/tag.ts', text }), ['seen'], text);
    },

    'has at most six levels in the core, without a circle': () => {
      assert.equal(countLevels(sources), 6);
      const count = (planted: string) => countLevels([...sources, plant(planted)]);
      assert.equal(count('core/member/a.ts imports ../campaign/campaign.ts'), 7);
      assert.equal(count('core/shared/a.ts imports ../tag/tag.ts'), Number.POSITIVE_INFINITY);
    },

    'has no exported name that two sources declare': () => {
      assert.deepEqual(findRepeatedNames(sources), []);
      const exported = ['const thing = 1;', 'async function thing() {}', 'function* thing() {}', 'type thing = 1;'];
      for (const text of exported) {
        const declarations = ['core/tag/tag.ts: export interface thing {}', `adapters/api/tag.ts: export ${text}`];
        const expected = ['thing is declared in core/tag/tag.ts and adapters/api/tag.ts'];
        assert.deepEqual(findRepeatedNames(declarations.map(plant)), expected, text);
      }
      const allowed = ['core/a.ts: export class thing {}', "core/b.ts: export { thing } from './a.ts';"];
      assert.deepEqual(findRepeatedNames(allowed.map(plant)), []);
    },

    'has tables of adapters that do not compile if an adapter is missing': () => {
      const { memory } = storages;
      // @ts-expect-error
      assert.ok({ memory } satisfies typeof storages);
      // @ts-expect-error
      assert.ok({ memory: rateLimiters.memory } satisfies typeof rateLimiters);
    },

    'compiles the core without the types of Node and browsers, so that a use of their globals is an error': () =>
      withTemporaryFolder(async (folder) => {
        const globals = ['URL', 'crypto', 'setTimeout', 'console', 'process', 'Buffer', 'fetch', 'performance'];
        const tsconfig = {
          extends: join(root, 'core/tsconfig.json'),
          compilerOptions: { rootDir: '.' },
          include: ['.'],
        };
        writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
        writeFileSync(join(folder, 'planted.ts'), globals.map((name) => `${name};\n`).join(''));
        const missing = compile(folder).map((line) => /planted\.ts.*Cannot find name '(\w+)'/.exec(line)?.[1] ?? line);
        assert.deepEqual(missing, globals);
      }),
  },
);
