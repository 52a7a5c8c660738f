import assert from 'node:assert/strict';
import { assertConflict, assertInvalidFields, jsonOf } from '../support/expected-responses.ts';
import { createFixture, type Fixture, withClock, withFixture } from '../support/fixture.ts';
import { suite } from '../support/suite.ts';

const PATH = '/domains';

suite('PATCH /domains/{id}', {
  'changes the fields that are sent, whether the domain is archived or not': () =>
    withClock(async ({ call, create }, clock) => {
      let current = await create(PATH);
      for (const change of [
        { expiredUrl: 'https://example.com/ended' },
        { notFoundUrl: 'https://example.com/unknown', placeholder: '' },
        { archived: true },
        { notFoundUrl: '' },
        { archived: false, expiredUrl: '' },
      ]) {
        clock.now += 1000;
        const changed = { ...current, ...change };
        const expected = { ...changed, primary: !changed.archived, updatedAt: new Date(clock.now).toISOString() };
        current = jsonOf(await call('PATCH', `${PATH}/${current.id}`, change));
        assert.deepEqual(current, expected);
        assert.deepEqual(jsonOf(await call('GET', `${PATH}/${current.id}`)), expected);
      }
    }),

  'returns 409 if it unarchives a domain whose slug another workspace has verified in the meantime': () =>
    withFixture(async (first, api) => {
      const second = await createFixture(api);
      const slug = 'go.example.com';
      const [own, other] = [await first.create(PATH, { slug }), await second.create(PATH, { slug })];
      const setArchived = (fixture: Fixture, id: string, archived: boolean) =>
        fixture.call('PATCH', `${PATH}/${id}`, { archived });
      jsonOf(await setArchived(second, other.id, true));
      await api.app.domains.verify(first.workspaceId, own.id);
      assertConflict(await setArchived(second, other.id, false));
      assert.equal(jsonOf(await second.call('GET', `${PATH}/${other.id}`)).archived, true);
      jsonOf(await setArchived(first, own.id, true));
      jsonOf(await setArchived(second, other.id, false));
    }),

  'rejects the fields `slug` and `verified`': () =>
    withFixture(async ({ call, create }) => {
      const { id } = await create(PATH);
      const body = { slug: 'a.example', verified: true };
      assertInvalidFields(await call('PATCH', `${PATH}/${id}`, body), Object.keys(body));
    }),
});
