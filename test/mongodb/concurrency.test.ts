import assert from 'node:assert/strict';
import { each } from '../support/each.ts';
import { assertTransientError } from '../support/expected-responses.ts';
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

/** Calls the API of each of two server processes on one database, with a key of a workspace. */
function withTwoProcesses(
  test: (calls: readonly [Api['call'], Api['call']], uri: string) => Promise<void>,
): Promise<void> {
  return withDatabase(async (uri) => {
    const settings = { ...createMongodbSettings(uri), LOG_LEVEL: 'error' };
    const { key } = await withApplication(uri, createWorkspace);
    const createCall =
      ({ url }: ServiceProcess): Api['call'] =>
      (method, path, options) =>
        request(url + path, method, { key, ...options });
    await withProcess(settings, (one) =>
      withProcess(settings, (other) => test([createCall(one), createCall(other)], uri)),
    );
  });
}

suite('two processes on one database', {
  'process only one of several requests with the same Idempotency-Key, and respond to the others with a replay or 409':
    () =>
      withTwoProcesses(async (calls) => {
        await each(rounds, async (round) => {
          const body = { question: `What did you learn in week ${round}?` };
          const headers = { 'Idempotency-Key': `week-${round}` };
          const post = (call: Api['call']) => call('POST', '/inspiration-questions', { body, headers });
          const responses = await Promise.all(Array.from({ length: CLIENT_COUNT / 2 }, () => calls.map(post)).flat());
          const isReplay = (response: ApiResponse) => response.headers.get('idempotency-replayed') === 'true';
          const [first, ...others] = responses.filter((response) => response.status === 201 && !isReplay(response));
          assert.ok(first && others.length === 0, `${others.length + 1} requests were processed`);
          for (const response of responses) {
            if (response.status === 201) assert.equal(response.text, first.text);
            else assertTransientError(response, 409, /^A request with this idempotency key is in progress/);
          }
          for (const call of calls) {
            const again = await post(call);
            assert.deepEqual([again.status, isReplay(again), again.text], [201, true, first.text]);
            assert.equal((await call('GET', '/inspiration-questions')).json.length, round + 1);
          }
        });
      }),

  'let one of two admins win who demote or delete each other': () =>
    withTwoProcesses((calls, uri) =>
      withApplication(uri, async (app) => {
        for (let round = 0; round < quickOrLong(10, 1000); round++) {
          const { workspaceId, admin, key } = await createWorkspace(app);
          const fields = { name: 'Ben', email: 'ben@x.example', role: 'admin', invitation: 'accepted' } as const;
          const ben = await app.members.create(workspaceId, fields);
          const { secret } = await app.apiKeys.create(workspaceId, { memberId: ben.id });
          const attempts = [
            { key, id: ben.id },
            { key: secret, id: admin.id },
          ];
          // Each process caches its caller as an admin, so that only the rule about the last admin can reject.
          await Promise.all(attempts.map((attempt, i) => calls[i]?.('GET', '/members', { key: attempt.key })));
          const responses = await Promise.all(
            attempts.map((attempt, i) => {
              const call = calls[i] as Api['call'];
              const path = `/members/${attempt.id}`;
              return (round + i) % 4 === 0
                ? call('DELETE', path, { key: attempt.key })
                : call('PATCH', path, { key: attempt.key, body: { role: 'member' } });
            }),
          );
          assert.deepEqual(responses.map(({ status }) => status).toSorted(), [200, 409], `round ${round}`);
          const lost = responses.find(({ status }) => status === 409);
          assert.equal(lost?.json.error.doc_url, '/docs/errors#conflict-last-admin');
        }
      }),
    ),
});
