import assert from 'node:assert/strict';
import type { Document } from 'mongodb';
import { each } from '../support/each.ts';
import { withMongoClient } from '../support/mongo-client.ts';
import { withDatabase } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { withProcess } from '../support/process.ts';
import { request } from '../support/service.ts';
import { withApplication } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createWorkspace } from '../support/tenants.ts';

const SECRET = 'confidential';

/** Commands after which MongoDB rejects each insert of a tag, with an error that contains the record. */
const rejections: Readonly<Record<string, Document>> = {
  'an error that contains the record': { collMod: 'tags', validator: { color: 'none' }, validationLevel: 'strict' },
  'an error whose message quotes the record': {
    createIndexes: 'tags',
    indexes: [{ name: 'place', key: { name: '2dsphere' } }],
  },
};

suite('an unexpected error of MongoDB', {
  'is logged with its code and message, but without the record, the API key and the idempotency key': () =>
    each(rejections, (rejection) =>
      withDatabase(async (uri) => {
        const { key } = await withApplication(uri, createWorkspace);
        await withProcess(
          { ...createMongodbSettings(uri), LOG_LEVEL: 'trace' },
          async ({ url, child, output, waitForExit }) => {
            await withMongoClient(uri, (client) => client.db().command(rejection));
            const body = { name: SECRET };
            for (const headers of [undefined, { 'Idempotency-Key': SECRET }]) {
              const { status, text } = await request(`${url}/tags`, 'POST', { key, body, ...(headers && { headers }) });
              assert.equal(status, 500, text);
              assert.equal(text.includes(SECRET), false, text);
            }
            child.kill('SIGTERM');
            await waitForExit();
            const lines = output.stderr.trim().split('\n');
            const failures = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request failed');
            assert.equal(failures.length, 2);
            for (const { err } of failures) assert.ok(err.code > 0 && /\w{5}/.test(err.message), output.stderr);
            for (const secret of [SECRET, key]) assert.equal(output.stderr.includes(secret), false, output.stderr);
          },
        );
      }),
    ),
});
