import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { ICONS } from '../../core/inspiration-question/inspiration-question.ts';
import { collectAll } from '../support/collect-all.ts';
import { each } from '../support/each.ts';
import { assertError } from '../support/expected-responses.ts';
import { quickOrLong } from '../support/scale.ts';
import type { Api, ApiResponse } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { closeProcesses, type Pair, withTwoProcesses } from './two-processes.ts';

const CLIENT_COUNT = 20;
const CHANGE_COUNT = 100;
const MAX_DELAY_MS = 5_000;

const rounds = Array.from({ length: quickOrLong(2, 50) }, (_, i) => [`round ${i}`, i] as const);

type Call = Api['call'];

/** Runs an action `count` times at the same time. The actions use the two values of the pair in turn. */
function runConcurrently<T, R>(pair: Pair<T>, count: number, action: (one: T, i: number) => Promise<R>): Promise<R[]> {
  return Promise.all(Array.from({ length: count }, (_, i) => action(pair[i % 2] as T, i)));
}

const sortStatuses = (answers: readonly ApiResponse[]) => answers.map(({ status }) => status).sort();

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
          const answers = await runConcurrently(services, CLIENT_COUNT, (call, i) => {
            const [path, body] = creation(`${i % 4 < 2 ? 'name' : 'NAME'}${round}`);
            return call('POST', path, { body });
          });
          assert.deepEqual(sortStatuses(answers), [201, ...Array(CLIENT_COUNT - 1).fill(409)]);
        }),
      );
      for (const records of [app.tags, app.groups, app.domains]) {
        assert.equal((await collectAll<unknown>(records.iterate(workspaceId))).length, rounds.length);
      }
    }),

  'never return an archived domain as the primary one': () =>
    withTwoProcesses(async ({ services }) => {
      const slug = 'links.example.com';
      await services[0]('POST', '/domains', { body: { slug } });
      await each(rounds, async () => {
        const answers = await runConcurrently(services, CLIENT_COUNT, (call, i) =>
          i % 4 < 2
            ? call('POST', '/domains', { body: { slug, archived: i % 8 < 4 } })
            : call('GET', '/domains?includeArchived=true'),
        );
        const domains = answers.filter(({ status }) => status < 300).flatMap(({ json }) => json as object);
        assert.ok(domains.length > 0);
        for (const domain of domains as { archived: boolean; primary: boolean }[]) {
          assert.ok(!(domain.archived && domain.primary), JSON.stringify(domain));
        }
      });
    }),

  'rename only one of several records if all requests have the same new name': () =>
    withTwoProcesses(async ({ workspaceId, services, app }) => {
      const names = Array.from({ length: CLIENT_COUNT }, (_, i) => `old ${i}`);
      const tags = await Promise.all(names.map((name) => app.tags.create(workspaceId, name)));
      await each(rounds, async (round) => {
        const body = { name: `new ${round}` };
        const answers = await runConcurrently(services, CLIENT_COUNT, (call, i) =>
          call('PATCH', `/tags/${tags[i]?.id}`, { body }),
        );
        assert.deepEqual(sortStatuses(answers), [200, ...Array(CLIENT_COUNT - 1).fill(409)]);
      });
    }),

  'process one of several requests with one Idempotency-Key, and return its response or a conflict to the others': () =>
    withTwoProcesses(async ({ services }) => {
      await each(rounds, async (round) => {
        const body = { question: `What did you learn in week ${round}?` };
        const headers = { 'Idempotency-Key': `week-${round}` };
        const post = (call: Call) => call('POST', '/inspiration-questions', { body, headers });
        const answers = await runConcurrently(services, CLIENT_COUNT, post);
        const isReplay = (answer: ApiResponse) => answer.headers.get('idempotency-replayed') === 'true';
        const [first, ...others] = answers.filter((answer) => answer.status === 201 && !isReplay(answer));
        assert.ok(first && others.length === 0, `${others.length + 1} requests were processed`);
        for (const answer of answers) {
          if (answer.status === 201) assert.equal(answer.text, first.text);
          else assertError(answer, 409, /^A request with this idempotency key is in progress/);
        }
        for (const call of services) {
          const again = await post(call);
          assert.deepEqual([again.status, isReplay(again), again.text], [201, true, first.text]);
          assert.equal((await call('GET', '/inspiration-questions')).json.length, round + 1);
        }
      });
    }),
});

suite('a hundred simultaneous requests with one Idempotency-Key to two processes', {
  'are processed once, and get the same response or a conflict': () =>
    withTwoProcesses(async ({ workspaceId, services, app }) => {
      await each(creations, async (creation) => {
        const [path, body] = creation('once');
        const headers = { 'Idempotency-Key': 'a-hundred' };
        const answers = await runConcurrently(services, CHANGE_COUNT, (call) => call('POST', path, { body, headers }));
        const created = answers.filter(({ status }) => status === 201);
        assert.equal(new Set(created.map(({ text }) => text)).size, 1);
        assert.equal(created.filter((answer) => !answer.headers.has('idempotency-replayed')).length, 1);
        const others = answers.filter(({ status }) => status !== 201);
        for (const answer of others) assertError(answer, 409, /^A request with this idempotency key is in progress/);
      });
      for (const records of [app.tags, app.groups, app.domains]) {
        assert.equal((await collectAll<unknown>(records.iterate(workspaceId))).length, 1);
      }
    }),
});

suite('many simultaneous changes of one record by two processes', {
  'are stored if their status is 200, and only then': () =>
    withTwoProcesses(async ({ workspaceId, services, app }) => {
      const { id } = await app.inspirationQuestions.create(workspaceId, { question: 'What did you learn?' });
      let before = (await services[0]('GET', '/inspiration-questions')).json[0];
      await each(rounds, async (round) => {
        const changes: object[] = [
          { question: `What did you learn in week ${round}?` },
          { description: `Week ${round}` },
          { icon: ICONS[(round + 1) % ICONS.length] },
          { isActive: round % 2 === 1 },
          { userType: round % 2 === 1 ? 'all' : 'advocate' },
        ];
        const bodies = [...changes, ...changes];
        const answers = await runConcurrently(services, bodies.length, (call, i) =>
          call('PATCH', `/inspiration-questions/${id}`, { body: bodies[i] }),
        );
        const stored = bodies.filter((_, i) => answers[i]?.status === 200);
        assert.ok(
          answers.every(({ status }) => status === 200 || status === 409),
          `${sortStatuses(answers)}`,
        );
        const [now] = (await services[1]('GET', '/inspiration-questions')).json;
        assert.deepEqual(now, Object.assign({}, before, ...stored, { updatedAt: now.updatedAt }));
        before = now;
      });
    }),

  'get status 200 or 409, and the stored value is that of a change with status 200': () =>
    withTwoProcesses(async ({ workspaceId, services, app }) => {
      const { id } = await app.tags.create(workspaceId, 'Launch');
      const answers = await runConcurrently(services, CHANGE_COUNT, (call, i) =>
        call('PATCH', `/tags/${id}`, { body: { name: `name ${i}` } }),
      );
      const accepted = answers.filter(({ status }) => status === 200);
      assert.ok(
        answers.every(({ status }) => status === 200 || status === 409),
        `${sortStatuses(answers)}`,
      );
      const [stored] = await collectAll(app.tags.iterate(workspaceId));
      assert.ok(
        accepted.some(({ json }) => json.name === stored?.name),
        stored?.name,
      );
    }),
});

suite('a change of an API key or its member by one process', {
  'applies in all processes within five seconds': () =>
    withTwoProcesses(async ({ workspaceId, services, app }) => {
      const admin = { name: 'Kim', email: 'kim@example.com', role: 'admin' } as const;
      const changes: Readonly<Record<string, readonly [status: number, (memberId: string, keyId: string) => unknown]>> =
        {
          'a key that is revoked': [401, (_, keyId) => app.apiKeys.revoke(workspaceId, keyId)],
          'an admin who becomes a member': [403, (id) => app.members.update(workspaceId, id, { role: 'member' })],
          'an invitation that expires': [410, (id) => app.members.update(workspaceId, id, { invitation: 'expired' })],
        };
      const checks = Object.entries(changes).map(async ([name, [status, change]]) => {
        const { id: memberId } = await app.members.create(workspaceId, admin);
        const { apiKey, secret: key } = await app.apiKeys.create(workspaceId, { memberId });
        const write = async (call: Call) => (await call('PATCH', '/tags/none', { key, body: { name } })).status;
        for (const call of services) assert.equal(await write(call), 404, name);
        await change(memberId, apiKey.id);
        const changedAt = performance.now();
        const isLate = () => performance.now() - changedAt > MAX_DELAY_MS;
        for (const call of services) {
          for (let late = false; (await write(call)) !== status; late = isLate()) {
            assert.equal(late, false, name);
            await delay(50);
          }
        }
      });
      await Promise.all(checks);
    }),

  'clean-up: closes the processes': closeProcesses,
});
