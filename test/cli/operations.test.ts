import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { z } from 'zod';
import { wholeNumberParameter } from '../../adapters/api/fields.ts';
import { defineOperation, type Operation } from '../../adapters/api/operation.ts';
import { operations } from '../../adapters/api/operations.ts';
import type { CommandContext, TableResult } from '../../adapters/cli/command.ts';
import { commands } from '../../adapters/cli/commands.ts';
import { createOperationCommand } from '../../adapters/cli/operation-command.ts';
import { collectAll } from '../support/collect-all.ts';
import { type CommandOutput, createCommandLine, createRun, parseJsonOutput } from '../support/command-line.ts';
import { each } from '../support/each.ts';
import { createRecord, newValidCall } from '../support/operations.ts';
import { type Api, withSharedService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createTenant, type Tenant } from '../support/tenants.ts';

/** The operations that have a command, by the name of the command. */
const derived = operations.flatMap((operation): [string, Operation][] =>
  operation.command === undefined ? [] : [[operation.command, operation]],
);
const lists = derived.filter(([, { query }]) => 'page' in query.shape);

/** The arguments of a command line, as a shell splits it. */
function splitInShell(line: string): string[] {
  const script = `advocacy() { printf '%s\\0' "$@"; }; ${line}`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).split('\0').slice(0, -1);
}

/** Runs a command on the workspace of a tenant, as its admin. */
type RunAsAdmin = (...args: readonly string[]) => Promise<CommandOutput>;

async function withTenant(test: (run: RunAsAdmin, tenant: Tenant, api: Api) => Promise<void>): Promise<void> {
  await withSharedService(async (api) => {
    const tenant = await createTenant(api, 'northwind');
    const { run } = createRun(api.app);
    await test((...args) => run([...args, '--workspace', tenant.workspaceId, '--as', tenant.admin.id]), tenant, api);
  });
}

/** Returns the words of the command that sends the same request as `newValidCall`. */
function toArguments(operation: Operation, { path, body }: ReturnType<typeof newValidCall>): string[] {
  const query = [...new URL(path, 'http://localhost').searchParams];
  return [
    ...(operation.command as string).split(' '),
    ...(operation.path.includes('{id}') ? [path.split('/')[2] as string] : []),
    ...query.map(([name, value]) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}=${value}`),
    ...(body ? ['--data', JSON.stringify(body)] : []),
  ];
}

/** Replaces what differs between two tenants: IDs, times, secrets and new names. */
const mask = (json: string) =>
  json
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/new-\d+/g, 'NEW')
    .replace(/"lastUsedAt":(?:null|"TIME")/g, 'USE')
    .replace(/adv_\w+|"lastFour":"\w+"|whsec_[\w+/=]+/g, 'SECRET')
    .replace(/"durationMs":\d+/g, 'DURATION');

suite('the command of an operation', {
  'has a name of its own': () => {
    const names = commands.map(({ name }) => name);
    assert.deepEqual([...new Set(names)], names);
  },

  'has options whose names do not clash': () =>
    each(derived, (_, name) => {
      const labels = commands.find((it) => it.name === name)?.fields.map(({ label }) => label) ?? [];
      assert.deepEqual([...new Set(labels)], labels);
      assert.ok(!labels.includes('--json') && !labels.includes('--help'));
    }),

  'has columns that are fields of the response': () =>
    each(derived, ({ columns = [], example }) => {
      const [record] = [example.response].flat();
      for (const name of columns) assert.ok(name in (record as object), name);
    }),

  'has a help with an example that is accepted': () =>
    each(derived, async (_, name) => {
      const { run, app } = createCommandLine();
      const { id } = await app.workspaces.create('Northwind');
      const ada = { name: 'Ada', email: 'ada@northwind.example', role: 'admin', invitation: 'accepted' } as const;
      if (name !== 'member create') await app.members.create(id, ada);
      const help = await run([...name.split(' '), '--help']);
      const [, example = ''] = help.stdout.split('\nExample:\n  ');
      assert.match(example, new RegExp(`^advocacy ${name}`));
      const { code, stderr } = await run(splitInShell(example));
      assert.ok(code === 0 || /^error: No \w/.test(stderr) || /must be the ID of/.test(stderr), stderr);
    }),

  'rejects an unknown option, and suggests the right one': () =>
    each(derived, async (_, name) => {
      const { code, stdout, stderr } = await createCommandLine().run([...name.split(' '), '--worksapce', 'W']);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /^error: unknown option '--worksapce'\n\(Did you mean --workspace\?\)/);
    }),

  'prints exactly the body of the HTTP response with --json, or the message of its error': () =>
    withTenant(async (run, tenant, api) => {
      const other = await createTenant(api, 'northwind');
      await each(derived, async (operation) => {
        const overHttp = newValidCall(operation, other);
        const { text, status } = await api.call(operation.method, overHttp.path, {
          key: other.key,
          body: overHttp.body,
        });
        const output = await run(...toArguments(operation, newValidCall(operation, tenant)), '--json');
        if (status >= 300) {
          const { code, stderr } = output;
          assert.deepEqual([code, stderr], [1, `error: ${JSON.parse(text).error.message}\n`]);
          return;
        }
        assert.equal(output.code, 0, output.stderr);
        const isMe = operation.command === 'me';
        assert.equal(mask(output.stdout), `${mask(isMe ? text.replace(/"key":.*/, '"key":null}') : text)}\n`);
      });
    }),

  'prints all pages as one array with --all --json, and a hint about more pages without': () =>
    withTenant(async (run, tenant, api) => {
      await each(lists, async (operation, name) => {
        const { path } = newValidCall(operation, tenant);
        const args = [...toArguments(operation, { path, body: undefined }), '--page-size', '1'];
        const isSimple = !operation.path.includes('{id}');
        if (isSimple) for (let i = 0; i < 2; i++) await createRecord(api, tenant, path).catch(() => undefined);
        const archived = 'includeArchived' in operation.query.shape ? ['--include-archived'] : [];
        const { text } = await api.call('GET', `${path}${archived.length > 0 ? '?includeArchived=true' : ''}`, {
          key: tenant.key,
        });
        assert.equal((await run(...args, ...archived, '--all', '--json')).stdout, `${text}\n`);
        if (JSON.parse(text).length < 2) return assert.ok(!isSimple || name === 'me shares');
        const { stdout, stderr } = await run(...args, ...archived);
        assert.equal(stdout.split('\n').length, 3, stdout);
        assert.equal(stderr, 'More results: use --page 2, or --all.\n', name);
        assert.equal((await run(...args, ...archived, '--all')).stdout.split('\n').length, JSON.parse(text).length + 2);
      });
    }),

  'follows a list by the sequence of its items, if it has no page numbers': async () => {
    const { app } = createCommandLine();
    await app.workspaces.create('Northwind');
    const list = defineOperation({
      id: 'listNumbers',
      method: 'GET',
      path: '/numbers',
      command: 'number list',
      summary: 'List numbers',
      description: [],
      query: z.strictObject({
        after: wholeNumberParameter(1).optional(),
        pageSize: wholeNumberParameter(1).default(2),
      }),
      response: z.array(z.object({ sequence: z.number() })),
      example: { response: [] },
      run: async (_, { query: { after = 0, pageSize } }) => {
        const all = Array.from({ length: 5 }, (__, i) => ({ sequence: i + 1 })).filter((it) => it.sequence > after);
        return { items: all.slice(0, pageSize), hasNext: all.length > pageSize };
      },
    });
    const start = await createOperationCommand(list).prepare({ all: true }, process.stdin);
    const result = await start({ app, signal: new AbortController().signal } as CommandContext);
    const pages = await collectAll((result as TableResult).pages as AsyncIterable<string>);
    assert.deepEqual(
      pages.map((page) => JSON.parse(page).map(({ sequence }: { sequence: number }) => sequence)),
      [[1, 2], [3, 4], [5]],
    );
  },

  'acts as a member with its role: over HTTP, a member cannot write': () =>
    withTenant(async (_, { workspaceId, sharer, ids }, api) => {
      const { run } = createRun(api.app);
      const asMember = ['--workspace', workspaceId, '--as', sharer.email.toUpperCase()];
      const { code, stderr } = await run(['tag', 'create', '--name', 'New', ...asMember]);
      assert.equal(code, 1);
      assert.match(stderr, /^error: The role member does not allow .*\. Omit --as, or choose an admin\.\n$/);
      const share = parseJsonOutput(await run(['campaign', 'share', ids.campaigns, ...asMember, '--json']));
      assert.equal(share.memberId, sharer.id);
      assert.equal(parseJsonOutput(await run(['me', ...asMember, '--json'])).member.id, sharer.id);
    }),
});
