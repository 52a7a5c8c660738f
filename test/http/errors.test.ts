import assert from 'node:assert/strict';
import { each } from '../support/each.ts';
import { assertError, comparablePartOf, expectedCodes, UNKNOWN_ID } from '../support/expected-responses.ts';
import { callRaw } from '../support/raw-requests.ts';
import { type Api, type ApiResponse, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createKey, createTenant } from '../support/tenants.ts';

suite('the error object', {
  'has only a code, a message and a link': () =>
    withService(
      async (api) => {
        const tenant = await createTenant(api, 'errors');
        const { workspaceId, key } = tenant;
        const post = (body: unknown, usedKey: string | null = key) => api.call('POST', '/tags', { key: usedKey, body });
        api.app.groups.create = () => Promise.reject(new Error('the disk is full'));
        const responses = {
          400: await post('{'),
          401: await post({}, null),
          403: await post({}, await createKey(api, workspaceId, { access: 'read' })),
          404: await api.call('GET', `/campaigns/${UNKNOWN_ID}`, { key }),
          409: await post({ name: tenant.names.tag }),
          410: await post({}, await createKey(api, workspaceId, { member: { invitation: 'expired' } })),
          422: await post({}),
          500: await api.call('POST', '/groups', { key, body: { name: 'a new one' } }),
          429: await exhaustLimit(api, await createKey(api, workspaceId)),
        };
        assert.deepEqual(Object.keys(responses), Object.keys(expectedCodes));
        await each(responses, (response, status) => assertError(response, Number(status)));
      },
      { settings: { RATE_LIMIT_POINTS: '20' } },
    ),

  'links to the documentation at DOCS_URL': () =>
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

  'contains nothing from headers that name a host': () =>
    withService(async (api) => {
      const headers = [
        ['Host', 'evil.example'],
        ['X-Forwarded-Host', 'evil.example'],
        ['Forwarded', 'host=evil.example'],
      ] as const;
      const response = await callRaw(api, { method: 'GET', target: '/campaigns', headers });
      assertError(response, 401);
      assert.doesNotMatch(JSON.stringify(comparablePartOf(response)), /evil/);
    }),
});

async function exhaustLimit({ call }: Api, key: string): Promise<ApiResponse> {
  for (let i = 0; i < 20; i++) await call('GET', '/domains', { key });
  return call('GET', '/domains', { key });
}
