import assert from 'node:assert/strict';
import { each } from '../support/each.ts';
import { jsonOf } from '../support/expected-responses.ts';
import { withFixture } from '../support/fixture.ts';
import { suite } from '../support/suite.ts';

/** The body that archives a record, by the path of its list. */
const bodies: Readonly<Record<string, object>> = {
  '/content-pillars': { status: 'archived' },
  '/domains': { archived: true },
  '/inspiration-questions': { archived: true },
};

suite('a single record', {
  'is returned even if it is archived': () =>
    each(bodies, (body, path) =>
      withFixture(async ({ call, create }) => {
        const record = await create(path);
        assert.deepEqual(jsonOf(await call('GET', `${path}/${record.id}`)), record);
        const archived = jsonOf(await call('PATCH', `${path}/${record.id}`, body));
        assert.notDeepEqual(archived, record);
        assert.deepEqual(jsonOf(await call('GET', `${path}/${record.id.toUpperCase()}`)), archived);
      }),
    ),
});
