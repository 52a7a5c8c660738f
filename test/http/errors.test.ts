import assert from 'node:assert/strict';
import { each } from '../support/each.ts';
import { assertRefused, codes, essence } from '../support/expected-responses.ts';
import { callRaw } from '../support/raw.ts';
import { type Answer, type Api, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createKey, createTenant, NEVER } from '../support/tenants.ts';

/** One refusal of each code that a client can meet, by its status. */
async function refusals(api: Api): Promise<[status: string, Answer][]> {
  const tenant = await createTenant(api, 'refusals');
  const { workspaceId, key } = tenant;
  const expired = await createKey(api, workspaceId, { member: { invitation: 'expired' } });
  const read = await createKey(api, workspaceId, { access: 'read' });
  const post = (body: unknown, by: string | null = key) => api.call('POST', '/tags', { key: by, body });
  const spent = async () => {
    const one = await createKey(api, workspaceId);
    for (let i = 0; i < 20; i++) await api.call('GET', '/domains', { key: one });
    return api.call('GET', '/domains', { key: one });
  };
  api.app.groups.create = () => Promise.reject(new Error('the disk with password hunter2 is full'));
  return Object.entries({
    400: await post('{'),
    401: await post({}, null),
    403: await post({}, read),
    404: await api.call('GET', `/campaigns/${NEVER}`, { key }),
    409: await post({ name: tenant.names.tag }),
    410: await post({}, expired),
    422: await post({}),
    429: await spent(),
    500: await api.call('POST', '/groups', { key, body: { name: 'a new one' } }),
  });
}

suite('the error object', {
  'has its code, a message and a link, and nothing else': () =>
    withService(
      async (api) => {
        const met = await refusals(api);
        assert.deepEqual(
          met.map(([status]) => status),
          Object.keys(codes),
        );
        await each(met, (answer, status) => assertRefused(answer, Number(status)));
      },
      { settings: { RATE_LIMIT_POINTS: '20' } },
    ),

  'tells nothing of the inside when something went wrong there': () =>
    withService(
      async (api) => {
        const [, answer] = (await refusals(api)).find(([status]) => status === '500') as [string, Answer];
        assert.doesNotMatch(answer.text, /hunter2|Error|\.[jt]s/);
      },
      { settings: { RATE_LIMIT_POINTS: '20' } },
    ),

  'links to where the operator keeps the documentation': () =>
    each(
      [
        ['https://docs.example/api', 'https://docs.example/api/errors#unprocessable-entity'],
        ['https://docs.example/api/', 'https://docs.example/api/errors#unprocessable-entity'],
        ['/help', '/help/errors#unprocessable-entity'],
        ['/', '/errors#unprocessable-entity'],
      ],
      (link, DOCS_URL) =>
        withService(
          async (api) => {
            const { json } = await api.call('POST', '/tags', { body: {} });
            assert.equal(json.error.doc_url, link);
          },
          { settings: { DOCS_URL } },
        ),
    ),

  'takes nothing from the Host header': () =>
    withService(async (api) => {
      const headers = [
        ['Host', 'evil.example'],
        ['X-Forwarded-Host', 'evil.example'],
        ['Forwarded', 'host=evil.example'],
      ] as const;
      const answer = await callRaw(api, { method: 'GET', target: '/campaigns', headers });
      assertRefused(answer, 401);
      assert.doesNotMatch(JSON.stringify(essence(answer)), /evil/);
    }),
});
