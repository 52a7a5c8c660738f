import assert from 'node:assert/strict';
import { each } from '../support/each.ts';
import {
  assertConflict,
  assertInvalidFields,
  assertNotFound,
  fieldValuesOf,
  jsonOf,
} from '../support/expected-responses.ts';
import { postOperations, validCallOf } from '../support/operations.ts';
import type { Api } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createCampaignBody, createTenant, type Tenant } from '../support/tenants.ts';
import { closeProcesses, type Pair, withTwoProcesses } from './two-processes.ts';

/** Calls the API with the key of the tenant. */
type Call = Api['call'];

let tenantCount = 0;

/** Runs a test twice, each time with its own tenant. The second run exchanges the two processes. */
function inBothOrders(test: (one: Call, other: Call, tenant: Tenant) => Promise<void>): Promise<void> {
  return withTwoProcesses(async ({ services: [first, second], app }) => {
    const orders: Readonly<Record<string, Pair<Call>>> = { forwards: [first, second], backwards: [second, first] };
    await each(orders, async ([one, other]) => {
      const tenant = await createTenant({ app }, `tenant${++tenantCount}`);
      const withKey =
        (call: Call): Call =>
        (method, path, options) =>
          call(method, path, { key: tenant.key, ...options });
      await test(withKey(one), withKey(other), tenant);
    });
  });
}

suite('a change by one process', {
  'is visible in the other at once: campaigns': () =>
    inBothOrders(async (one, other, { ids }) => {
      const created = jsonOf(await one('POST', '/campaigns', { body: createCampaignBody('Spring') }), 201);
      assert.deepEqual(jsonOf(await other('GET', `/campaigns/${created.id}`)), created);
      assert.deepEqual(fieldValuesOf(await other('GET', '/campaigns'), 'id'), [created.id, ids.campaigns]);
      assert.deepEqual(jsonOf(await other('GET', '/campaigns?search=SPRING')), [created]);
    }),

  'is visible in the other at once: inspiration questions': () =>
    inBothOrders(async (one, other, { ids: { 'inspiration-questions': id, groups } }) => {
      const path = `/inspiration-questions/${id}`;
      const list = `/inspiration-questions?groupIds=${groups}`;
      const changed = jsonOf(await one('PATCH', path, { body: { question: 'What is new here?' } }));
      assert.deepEqual(jsonOf(await other('GET', list)), [changed]);
      const again = jsonOf(await other('PATCH', path, { body: { description: 'Tell us' } }));
      assert.deepEqual(again, { ...changed, description: 'Tell us', updatedAt: again.updatedAt });
      assert.deepEqual(jsonOf(await one('GET', list)), [again]);
      jsonOf(await one('DELETE', path));
      assert.deepEqual(jsonOf(await other('GET', list)), []);
      assertNotFound(await other('DELETE', path));
    }),

  'is visible in the other at once: content pillars': () =>
    inBothOrders(async (one, other, { ids: { 'content-pillars': id } }) => {
      const changed = jsonOf(await one('PATCH', `/content-pillars/${id}`, { body: { title: 'New', color: 'blue' } }));
      assert.deepEqual(jsonOf(await other('GET', '/content-pillars?search=new')), [changed]);
      jsonOf(await other('DELETE', `/content-pillars/${id}`));
      assert.deepEqual(jsonOf(await one('GET', '/content-pillars')), []);
      assertInvalidFields(await one('POST', '/campaigns', { body: { ...createCampaignBody(), contentPillarId: id } }), [
        'contentPillarId',
      ]);
    }),

  'is visible in the other at once: domains, archived domains and the primary domain': () =>
    inBothOrders(async (one, other, { names: { domain: oldest } }) => {
      const [younger, youngest] = [`younger.${oldest}`, `youngest.${oldest}`];
      const setArchived = async (call: Call, slug: string, archived: boolean) =>
        jsonOf(await call('POST', '/domains', { body: { slug, archived } }));
      const listLive = async (call: Call) =>
        jsonOf(await call('GET', '/domains')).map((it: { slug: string; primary: boolean }) => [it.slug, it.primary]);
      assert.equal(jsonOf(await one('POST', '/domains', { body: { slug: younger } }), 201).primary, false);
      assert.equal(jsonOf(await other('POST', '/domains', { body: { slug: youngest } }), 201).primary, false);
      assertConflict(await one('POST', '/domains', { body: { slug: youngest } }));
      await setArchived(one, oldest, true);
      assert.deepEqual(await listLive(other), [
        [youngest, false],
        [younger, true],
      ]);
      assert.equal((await setArchived(other, oldest, false)).primary, false);
      await setArchived(other, younger, true);
      assert.deepEqual(await listLive(one), [
        [youngest, true],
        [oldest, false],
      ]);
    }),

  'is visible in the other at once: groups and tags by their names': () =>
    inBothOrders(async (one, other) => {
      const group = jsonOf(await one('POST', '/groups', { body: { name: 'Porto' } }), 201).id;
      const tag = jsonOf(await one('POST', '/tags', { body: { name: 'Old' } }), 201).id;
      assertConflict(await other('POST', '/groups', { body: { name: 'PORTO' } }));
      const body = { ...createCampaignBody(), tagIds: [tag], groupIds: [group] };
      const { id } = jsonOf(await other('POST', '/campaigns', { body }), 201);
      jsonOf(await other('PATCH', `/tags/${tag}`, { body: { name: 'New' } }));
      assert.deepEqual(fieldValuesOf(await one('GET', '/campaigns?tagNames=new'), 'id'), [id]);
      assert.deepEqual(fieldValuesOf(await one('GET', '/campaigns?tagNames=old'), 'id'), []);
      jsonOf(await one('POST', '/tags', { body: { name: 'old' } }), 201);
    }),

  'is not repeated by the other, which replays the first response for the same Idempotency-Key': () =>
    inBothOrders(async (one, other, tenant) => {
      const headers = { 'Idempotency-Key': 'once' };
      await each(postOperations, async (operation) => {
        const { path, body } = validCallOf(operation, tenant);
        const first = await one('POST', path, { body, headers });
        jsonOf(first, 201);
        const again = await other('POST', path, { body, headers });
        assert.deepEqual([again.status, again.text], [201, first.text]);
        assert.equal(again.headers.get('idempotency-replayed'), 'true');
      });
      const body = { name: 'another' };
      assertInvalidFields(await other('POST', '/tags', { body, headers }), ['Idempotency-Key']);
    }),

  'clean-up: closes the processes': closeProcesses,
});
