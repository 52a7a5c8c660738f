import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { AdvocacyClient } from '../../clients/typescript/client.ts';
import { each } from '../support/each.ts';
import { allOperations, newValidCall, recordIdOf } from '../support/operations.ts';
import { DEMO_API_KEY, withService, withSharedService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createTenant } from '../support/tenants.ts';

const EXAMPLE = join(import.meta.dirname, 'example.js');

function runExample(env: Readonly<Record<string, string>>): Promise<{ isSuccess: boolean; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [EXAMPLE], { env: { ...process.env, ...env } }, (error, stdout, stderr) =>
      resolve({ isSuccess: error === null, output: stdout + stderr }),
    );
  });
}

suite('test/client/example.ts', {
  'runs without failures': () =>
    withService(async ({ url }) => {
      const { output } = await runExample({ BASE_URL: url, KEY: DEMO_API_KEY });
      assert.equal(output, 'The operations work as documented.\n');
    }),
});

suite('AdvocacyClient', {
  'calls every operation with its documented example': () =>
    withSharedService((api) =>
      each(allOperations, async (operation) => {
        const tenant = await createTenant(api, 'tenant');
        const client = new AdvocacyClient({ baseUrl: api.url, key: tenant.key });
        const call = client.request.bind(client) as (method: string, path: string, options: object) => Promise<unknown>;
        const { body } = newValidCall(operation, tenant);
        const path = { id: recordIdOf(operation, tenant) };
        operation.response.parse(
          await call(operation.method, operation.path, { path, body, query: operation.example.query }),
        );
      }),
    ),
});
