import assert from 'node:assert/strict';
import { each, textCases } from '../support/each.ts';
import { comparablePartOf } from '../support/expected-responses.ts';
import { readAllLists } from '../support/operations.ts';
import { type Place, places } from '../support/places.ts';
import { type Api, type ApiResponse, withSharedService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createTenant, type Tenant } from '../support/tenants.ts';

const allPlaces = Object.entries(places);

/** Runs a test with two separate workspaces. */
function withTwoTenants(test: (api: Api, own: Tenant, other: Tenant) => Promise<void>): Promise<void> {
  return withSharedService(async (api) => test(api, await createTenant(api, 'own'), await createTenant(api, 'other')));
}

function send(api: Api, by: Tenant, place: Place, ...values: readonly string[]): Promise<ApiResponse> {
  const [method, path, body] = place.createRequest(values, by);
  return api.call(method, path, { key: by.key, body });
}

suite('a workspace', {
  'can refer to its own records in every part of a request': () =>
    withSharedService((api) =>
      each(allPlaces, async (place) => {
        const own = await createTenant(api, 'own');
        const { status, text } = await send(api, own, place, place.getValue(own));
        assert.ok(status === 200 || status === 201, text);
        assert.notEqual(text, '[]');
      }),
    ),

  'gets the same response for a record of another workspace and for an unknown record': () =>
    withTwoTenants(async (api, own, other) => {
      const before = [await readAllLists(api, own.key), await readAllLists(api, other.key)];
      await each(allPlaces, async (place) => {
        const expected = await send(api, own, place, place.unknown);
        assert.equal(expected.status, place.status, expected.text);
        if (place.status === 200) assert.equal(expected.text, '[]');
        await each(textCases(place.getValue(other), place.getValue(other).toUpperCase()), async (value) => {
          assert.deepEqual(comparablePartOf(await send(api, own, place, value)), comparablePartOf(expected));
        });
      });
      assert.deepEqual([await readAllLists(api, own.key), await readAllLists(api, other.key)], before);
      const { status } = await api.call('POST', '/tags', { key: other.key, body: { name: other.names.tag } });
      assert.equal(status, 409, 'the tag of the other workspace still has its name');
    }),

  'gets the same response for a foreign and an unknown record, each combined with a record of its own': () =>
    withTwoTenants(async (api, own, other) => {
      const before = await readAllLists(api, own.key);
      await each(
        allPlaces.filter(([, { takesMany }]) => takesMany),
        async (place) => {
          const [mine, foreign] = [place.getValue(own), place.getValue(other)];
          for (const mix of [
            (value: string) => [mine, value],
            (value: string) => [value, mine],
            (value: string) => [mine, value, mine, value],
          ]) {
            const expected = await send(api, own, place, ...mix(place.unknown));
            assert.equal(expected.status, place.status, expected.text);
            if (place.status === 200) assert.equal(expected.json.length, 1);
            assert.deepEqual(
              comparablePartOf(await send(api, own, place, ...mix(foreign))),
              comparablePartOf(expected),
            );
          }
        },
      );
      assert.deepEqual(await readAllLists(api, own.key), before);
    }),

  'gets the response for an unknown record if a deletion or a change has made a reference invalid': () =>
    withTwoTenants(async (api, own, other) => {
      await each(allPlaces, async (place) => {
        if (!place.createDeleted) return;
        const expected = await send(api, own, place, place.unknown);
        for (const tenant of [own, other]) {
          const value = await place.createDeleted(api, tenant);
          assert.deepEqual(comparablePartOf(await send(api, own, place, value)), comparablePartOf(expected));
        }
      });
    }),
});
