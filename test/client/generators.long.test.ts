import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { operations } from '../../adapters/api/operations.ts';
import { MissingDependencyError } from '../support/missing-dependency-error.ts';
import { DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { withTemporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '../../..');
/** The output of an example without failures. */
const SUCCESS_OUTPUT = 'The operations work as documented.\n';

/** The command that compiles files as strict TypeScript with the types of a browser. */
const TSC = 'tsc --noEmit --strict --target es2022 --lib es2022,dom,dom.iterable';

/** Returns the shell commands in a section of docs/clients.md. */
function readCommands(section: string): string {
  const page = readFileSync(join(root, 'docs/clients.md'), 'utf8');
  const [, text = ''] = page.split(`\n## ${section}\n`);
  const [, commands] = /```sh\n(.*?)```/s.exec(text.split('\n## ')[0] as string) ?? [];
  assert.ok(commands, section);
  return commands;
}

interface ClientCheck {
  /** The programs that must be installed. */
  readonly programs: readonly string[];
  /** The files to copy: the keys are paths in the new folder, the values are paths in test/client. */
  readonly files?: Readonly<Record<string, string>>;
  /** The commands to run after those of docs/clients.md. They check the client. */
  readonly commands: string;
}

/**
 * Runs the commands of a section of docs/clients.md in a new folder, then `commands`. Returns the output of `commands`.
 */
function checkClient(section: string, { programs, files = {}, commands }: ClientCheck): Promise<string> {
  const missing = programs.filter((program) => spawnSync('which', [program]).status !== 0);
  if (missing.length > 0) throw new MissingDependencyError(missing.join(', '), { isOptional: true });
  let output = '';
  return withTemporaryFolder(async (folder) => {
    for (const [to, from] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, to)), { recursive: true });
      copyFileSync(join(root, 'test/client', from), join(folder, to));
    }
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    // A copy, because `npm pack` compiles the client in its folder.
    cpSync(join(root, 'clients'), join(folder, 'project/clients'), { recursive: true });
    await withService(async ({ url }) => {
      const setUp = readCommands(section).replaceAll('http://127.0.0.1:3000', url);
      const env = {
        ...process.env,
        BASE_URL: url,
        KEY: DEMO_API_KEY,
        PROJECT: join(folder, 'project'),
        PATH: `${root}/node_modules/.bin:${process.env.PATH}`,
      };
      output = await new Promise((resolve, reject) => {
        execFile(
          'bash',
          ['-ec', `{ ${setUp} } >&2\n${commands}`],
          { cwd: folder, env, maxBuffer: 2 ** 26 },
          (error, stdout, stderr) =>
            error ? reject(new Error(`${section}: ${(stdout + stderr).slice(-5000)}`)) : resolve(stdout),
        );
      });
    });
    return output;
  });
}

/** Runs an npm script of test/client. Returns whether it succeeded, and its output. */
async function runScript(...args: readonly string[]) {
  const cwd = join(root, 'test/client');
  if (!existsSync(join(cwd, 'node_modules'))) throw new MissingDependencyError('what `npm ci` installs in test/client');
  return new Promise<{ isSuccess: boolean; output: string }>((resolve) => {
    execFile('npm', ['run', '--silent', ...args], { cwd }, (error, stdout, stderr) =>
      resolve({ isSuccess: error === null, output: stdout + stderr }),
    );
  });
}

suite('the types of the TypeScript client', {
  'are those of docs/openapi.json': async () => {
    const { isSuccess, output } = await runScript('check', join(root, 'docs/openapi.json'));
    assert.ok(isSuccess, `${output}Run \`npm ci && npm run generate\` in test/client.`);
  },

  'differ from those of a changed document': () =>
    withTemporaryFolder(async (folder) => {
      const document = readFileSync(join(root, 'docs/openapi.json'), 'utf8');
      writeFileSync(join(folder, 'openapi.json'), document.replaceAll('"isActive"', '"isAwake"'));
      assert.equal((await runScript('check', join(folder, 'openapi.json'))).isSuccess, false);
    }),
});

suite('the commands of docs/clients.md', {
  'pack and install the TypeScript client, which compiles in a project of Node.js or of a bundler': async () => {
    const output = await checkClient('TypeScript', {
      programs: ['npm'],
      commands: `cat > program.ts <<'EOF'
import { AdvocacyClient, AdvocacyError, type Schemas } from 'workspace-advocacy-client';
declare const process: { readonly env: Readonly<Record<string, string>> };
declare const console: { log(text: string): void };
const { BASE_URL: baseUrl = '', KEY: key = '' } = process.env;
const client = new AdvocacyClient({ baseUrl, key });
const me: Schemas['Me'] = await client.request('GET', '/me');
console.log(me.workspace.name);
const error = await client.request('POST', '/tags', { body: { name: 'a,b' } }).catch((error) => error);
console.log(String(error instanceof AdvocacyError && error.status));
EOF
      ${TSC} --module nodenext --types '' program.ts
      ${TSC} --module esnext --moduleResolution bundler --types '' program.ts
      esbuild --log-level=error program.ts | node --input-type=module
      ls node_modules/workspace-advocacy-client/dist`,
    });
    assert.match(output, /^Northwind Outdoor\n422\n/);
    assert.deepEqual(output.split('\n').slice(2, -1), [
      ...['client.d.ts', 'client.js', 'schema.d.ts', 'schema.js', 'webhook.d.ts', 'webhook.js'],
    ]);
  },

  'generate a TypeScript client, which compiles': async () => {
    const output = await checkClient('TypeScript, generated', {
      programs: ['npm'],
      commands: `npx tsc --noEmit --strict --target es2022 --lib es2022,dom,dom.iterable --module esnext --moduleResolution bundler client/index.ts
      grep -c 'export const' client/sdk.gen.ts`,
    });
    assert.ok(Number(output) >= operations.length, output);
  },

  'generate a Python client, whose example works': async () => {
    const files = { 'example.py': 'example.py' };
    assert.equal(
      await checkClient('Python', { programs: ['python3'], files, commands: 'python example.py' }),
      SUCCESS_OUTPUT,
    );
  },

  'generate a Go client, which compiles and whose example works': async () => {
    const files = { 'example/example.go': 'example.go' };
    const commands = 'go mod tidy >&2 && go vet ./... && go run ./example';
    assert.equal(await checkClient('Go', { programs: ['go'], files, commands }), SUCCESS_OUTPUT);
  },

  'generate a Java client, which compiles': async () => {
    const commands = 'find client/target/classes -name "*Api.class" | wc -l';
    const output = await checkClient('Java', { programs: ['java', 'mvn'], commands });
    assert.ok(Number(output) >= 7, output);
  },
});
