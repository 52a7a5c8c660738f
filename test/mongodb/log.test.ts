import assert from 'node:assert/strict';
import { type Document, MongoClient } from 'mongodb';
import { each } from '../support/each.ts';
import { mongod } from '../support/mongod.ts';
import { newWorkspace, onMongodb, withUseCases } from '../support/mongodb-service.ts';
import { withProcess } from '../support/process.ts';
import { request } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const SECRET = 'confidential';

/** Has MongoDB refuse what is written to the collection of tags, for a reason of its own. */
const refusals: Readonly<Record<string, Document>> = {
  'an error that holds the record': { collMod: 'tags', validator: { color: 'none' }, validationLevel: 'strict' },
  'an error whose message quotes the record': {
    createIndexes: 'tags',
    indexes: [{ name: 'place', key: { name: '2dsphere' } }],
  },
};

suite('what MongoDB refuses for a reason of its own', {
  'is logged with its reason, but without the record, the key and the idempotency key': () =>
    each(refusals, async (refusal) => {
      const database = await mongod();
      const client = new MongoClient(database.uri);
      try {
        const { key } = await withUseCases(database.uri, newWorkspace);
        await withProcess(
          { ...onMongodb(database.uri), LOG_LEVEL: 'trace' },
          async ({ url, child, output, waitForExit }) => {
            await client.db().command(refusal);
            const body = { name: SECRET };
            for (const headers of [undefined, { 'Idempotency-Key': SECRET }]) {
              const { status, text } = await request(`${url}/tags`, 'POST', { key, body, ...(headers && { headers }) });
              assert.equal(status, 500, text);
              assert.equal(text.includes(SECRET), false, text);
            }
            child.kill('SIGTERM');
            await waitForExit();
            const lines = output.stderr.trim().split('\n');
            const failures = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'failed');
            assert.equal(failures.length, 2);
            for (const { err } of failures) assert.ok(err.code > 0 && /\w{5}/.test(err.message), output.stderr);
            for (const secret of [SECRET, key]) assert.equal(output.stderr.includes(secret), false, output.stderr);
          },
        );
      } finally {
        await client.close();
        await database.stop();
      }
    }),
});
