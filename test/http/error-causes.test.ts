import assert from 'node:assert/strict';
import { errorCodes, getErrorAnchor, getErrorCauses } from '../../adapters/api/errors.ts';
import { each } from '../support/each.ts';
import { type Fixture, withFixture } from '../support/fixture.ts';
import { type Api, type ApiResponse, withSharedService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createKey, createTenant } from '../support/tenants.ts';

/** Anchors that clients may use. They are written out here, because none may disappear (docs/stability.md). */
const stableAnchors = [
  ...['bad-request', 'bad-request-body-too-large', 'bad-request-too-slow', 'unauthorized'],
  ...['forbidden', 'forbidden-invitation-pending', 'forbidden-key-without-member', 'forbidden-not-admin'],
  ...['forbidden-read-only-key', 'not-found', 'conflict', 'conflict-campaign-not-running'],
  ...['forbidden-key-outlives-yours', 'conflict-too-many-keys', 'conflict-key-ended', 'conflict-already-created'],
  ...['conflict-email-taken', 'conflict-invitation-accepted', 'conflict-last-admin', 'conflict-concurrent-changes'],
  ...['conflict-domain-taken', 'conflict-domain-verified-elsewhere'],
  ...['conflict-idempotency-key-in-use', 'conflict-name-taken', 'conflict-status-transition', 'invite-expired'],
  ...['unprocessable-entity', 'unprocessable-entity-idempotency-key-reused', 'unprocessable-entity-list-too-slow'],
  ...['rate-limit-exceeded', 'rate-limit-exceeded-overload', 'rate-limit-exceeded-rejected-credentials'],
  ...['conflict-domain-archived', 'conflict-not-draft', 'rate-limit-exceeded-verifications-busy'],
  'internal-server-error',
];

/** Returns the response to a request that causes the error. */
type Cause = (fixture: Fixture, api: Api) => Promise<ApiResponse>;

/** Creates a key of the workspace, and sends a request with it. */
const callWithKey =
  (keyFields: Parameters<typeof createKey>[2], method: string, path: string): Cause =>
  async ({ workspaceId }, api) =>
    api.call(method, path, { key: await createKey(api, workspaceId, keyFields), body: { name: 'Launch' } });

const causes: Readonly<Record<string, Cause>> = {
  'bad-request-body-too-large': ({ call }) => call('POST', '/tags', { name: 'x'.repeat(2 ** 20) }),
  'forbidden-read-only-key': callWithKey({ access: 'read' }, 'POST', '/tags'),
  'forbidden-key-without-member': callWithKey({}, 'POST', '/content-pillars'),
  'forbidden-not-admin': callWithKey({ member: { role: 'member' } }, 'POST', '/tags'),
  'forbidden-invitation-pending': callWithKey({ member: { invitation: 'pending' } }, 'POST', '/tags'),
  'conflict-name-taken': async ({ call, create }) => {
    const { id } = await create('/tags', { name: 'Launch' });
    const [created, other] = [await call('POST', '/tags', { name: 'LAUNCH' }), await create('/tags', { name: 'b' })];
    assert.notEqual(id, other.id);
    const renamed = await call('PATCH', `/tags/${other.id}`, { name: 'launch' });
    assert.equal(renamed.json.error.doc_url, created.json.error.doc_url);
    await create('/groups', { name: 'Lisbon' });
    assert.equal((await call('POST', '/groups', { name: 'Lisbon' })).json.error.doc_url, created.json.error.doc_url);
    return created;
  },
  'conflict-domain-taken': async ({ call, create }) => {
    await create('/domains', { slug: 'taken.example' });
    return call('POST', '/domains', { slug: 'taken.example' });
  },
  'conflict-domain-verified-elsewhere': async ({ call }, api) => {
    const { workspaceId, ids, names } = await createTenant(api, `t${Math.random().toString(36).slice(2)}`);
    await api.app.domains.markVerified(workspaceId, ids.domains);
    return call('POST', '/domains', { slug: names.domain });
  },
  'conflict-status-transition': async ({ call, create }) => {
    const { id } = await create('/campaigns', { status: 'published' });
    return call('PATCH', `/campaigns/${id}`, { status: 'draft' });
  },
  'conflict-campaign-not-running': async ({ call, create }) => {
    const { id } = await create('/campaigns', { status: 'draft' });
    return call('POST', `/campaigns/${id}/shares`);
  },
  'conflict-email-taken': async ({ call, create }) => {
    const { id } = await create('/members', { email: 'ada@x.example' });
    const updated = await call('PATCH', `/members/${(await create('/members')).id}`, { email: 'ADA@x.example' });
    assert.equal(updated.status, 409, id);
    return call('POST', '/members', { name: 'Ada', email: 'Ada@X.example' });
  },
  'conflict-invitation-accepted': ({ call, admin }) => call('PATCH', `/members/${admin.id}`, { invitation: 'pending' }),
  'conflict-last-admin': ({ call, admin }) => call('DELETE', `/members/${admin.id}`),
  'unprocessable-entity-idempotency-key-reused': async ({ key }, { call }) => {
    const post = (name: string) =>
      call('POST', '/tags', { key, body: { name }, headers: { 'Idempotency-Key': 'once' } });
    assert.equal((await post('one')).status, 201);
    return post('two');
  },
};

suite('the causes of errors', {
  'have a section each on the page of the errors, as every code has': () =>
    withSharedService(async ({ call }) => {
      const { text } = await call('GET', '/docs/errors', { key: null });
      const anchors = errorCodes.flatMap((code) => [getErrorAnchor(code), ...getErrorCauses(code).map(([id]) => id)]);
      for (const anchor of anchors) {
        assert.match(text, new RegExp(`<(section|h3) id="${anchor}">\\s*(<h2>)?<a href="#${anchor}">`), anchor);
        assert.match(text, new RegExp(`<li[^>]*><a href="#${anchor}">`), anchor);
      }
      for (const anchor of stableAnchors) assert.ok(anchors.includes(anchor), anchor);
      assert.equal(new Set(anchors).size, anchors.length);
    }),

  'are the targets of doc_url': () =>
    each(causes, (cause, anchor) =>
      withFixture(async (fixture, api) => {
        assert.ok(stableAnchors.includes(anchor));
        assert.equal((await cause(fixture, api)).json.error.doc_url, `/docs/errors#${anchor}`);
      }),
    ),

  'are not named if a program can only act on the code': () =>
    withFixture(async ({ call }) => {
      const { json } = await call('POST', '/tags', { name: 'a,b' });
      assert.equal(json.error.doc_url, '/docs/errors#unprocessable-entity');
    }),
});
