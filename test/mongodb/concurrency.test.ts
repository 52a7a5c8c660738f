import assert from 'node:assert/strict';
import type { Application } from '../../core/application.ts';
import { collectAll } from '../support/collect-all.ts';
import { each } from '../support/each.ts';
import { assertError } from '../support/expected-responses.ts';
import { withDatabase } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { type ServiceProcess, withProcess } from '../support/process.ts';
import { quickOrLong } from '../support/scale.ts';
import { type Api, type ApiResponse, request } from '../support/service.ts';
import { withApplication } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createWorkspace } from '../support/tenants.ts';

const CLIENT_COUNT = 20;

const rounds = Array.from({ length: quickOrLong(2, 50) }, (_, i) => [`round ${i}`, i] as const);

type Call = Api['call'];

/** Two server processes with a workspace, on one database. */
interface TwoProcesses {
  readonly workspaceId: string;
  /** Calls the API of each server process, with a key of the workspace. */
  readonly services: readonly [Call, Call];
  /** The use cases in this process, on the same database. */
  readonly app: Application;
}

function withTwoProcesses(test: (two: TwoProcesses) => Promise<void>): Promise<void> {
  return withDatabase((uri) => {
    const settings = { ...createMongodbSettings(uri), LOG_LEVEL: 'error' };
    return withProcess(settings, (one) =>
      withProcess(settings, (other) =>
        withApplication(uri, async (app) => {
          const { workspaceId, key } = await createWorkspace(app);
          const createCall =
            ({ url }: ServiceProcess): Call =>
            (method, path, options) =>
              request(url + path, method, { key, ...options });
          await test({ workspaceId, services: [createCall(one), createCall(other)], app });
        }),
      ),
    );
  });
}

/** Calls an action `count` times at the same time, with the two processes in turn. */
function runConcurrently<R>(
  services: TwoProcesses['services'],
  count: number,
  action: (call: Call, i: number) => Promise<R>,
): Promise<R[]> {
  return Promise.all(Array.from({ length: count }, (_, i) => action(services[i % 2] as Call, i)));
}

const sortStatuses = (responses: readonly ApiResponse[]) => responses.map(({ status }) => status).sort();

/** Requests that create a record with a name. */
const creations: Readonly<Record<string, (name: string) => readonly [path: string, body: object]>> = {
  tag: (name) => ['/tags', { name }],
  group: (name) => ['/groups', { name }],
  domain: (name) => ['/domains', { slug: `${name}.example` }],
};

suite('two processes on one database', {
  'create only one record if many requests have the same name or slug': () =>
    withTwoProcesses(async ({ workspaceId, services, app }) => {
      await each(creations, (creation) =>
        each(rounds, async (round) => {
          // Upper and lower case are the same name. Each process gets both.
          const responses = await runConcurrently(services, CLIENT_COUNT, (call, i) => {
            const [path, body] = creation(`${i % 4 < 2 ? 'name' : 'NAME'}${round}`);
            return call('POST', path, { body });
          });
          assert.deepEqual(sortStatuses(responses), [201, ...Array(CLIENT_COUNT - 1).fill(409)]);
        }),
      );
      for (const records of [app.tags, app.groups, app.domains]) {
        assert.equal((await collectAll<unknown>(records.iterate(workspaceId))).length, rounds.length);
      }
    }),

  'never return an archived domain as the primary domain': () =>
    withTwoProcesses(async ({ services }) => {
      const slug = 'links.example.com';
      await services[0]('POST', '/domains', { body: { slug } });
      await each(rounds, async () => {
        const responses = await runConcurrently(services, CLIENT_COUNT, (call, i) =>
          i % 4 < 2
            ? call('POST', '/domains', { body: { slug, archived: i % 8 < 4 } })
            : call('GET', '/domains?includeArchived=true'),
        );
        const domains = responses.filter(({ status }) => status < 300).flatMap(({ json }) => json as object);
        assert.ok(domains.length > 0);
        for (const domain of domains as { archived: boolean; primary: boolean }[]) {
          assert.ok(!(domain.archived && domain.primary), JSON.stringify(domain));
        }
      });
    }),

  'process only one of several requests with the same Idempotency-Key, and respond to the others with a replay or 409':
    () =>
      withTwoProcesses(async ({ services }) => {
        await each(rounds, async (round) => {
          const body = { question: `What did you learn in week ${round}?` };
          const headers = { 'Idempotency-Key': `week-${round}` };
          const post = (call: Call) => call('POST', '/inspiration-questions', { body, headers });
          const responses = await runConcurrently(services, CLIENT_COUNT, post);
          const isReplay = (response: ApiResponse) => response.headers.get('idempotency-replayed') === 'true';
          const [first, ...others] = responses.filter((response) => response.status === 201 && !isReplay(response));
          assert.ok(first && others.length === 0, `${others.length + 1} requests were processed`);
          for (const response of responses) {
            if (response.status === 201) assert.equal(response.text, first.text);
            else assertError(response, 409, /^A request with this idempotency key is in progress/);
          }
          for (const call of services) {
            const again = await post(call);
            assert.deepEqual([again.status, isReplay(again), again.text], [201, true, first.text]);
            assert.equal((await call('GET', '/inspiration-questions')).json.length, round + 1);
          }
        });
      }),
});
