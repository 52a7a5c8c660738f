import assert from 'node:assert/strict';
import { each } from '../support/each.ts';
import { assertError, comparablePartOf } from '../support/expected-responses.ts';
import { callRaw } from '../support/raw-requests.ts';
import { withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';

suite('the error object', {
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
