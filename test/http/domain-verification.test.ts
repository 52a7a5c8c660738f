import assert from 'node:assert/strict';
import { doNothing } from '../../core/shared/do-nothing.ts';
import { type DnsAnswer, type DnsServer, withDnsServer } from '../support/dns-server.ts';
import { each } from '../support/each.ts';
import { assertError, assertTransientError, jsonOf } from '../support/expected-responses.ts';
import { createFixture, type Fixture, withFixture } from '../support/fixture.ts';
import type { Api, ApiResponse } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';

const SLUG = 'links.example.com';
const NAME = `_advocacy-challenge.${SLUG}`;
/** The maximum time of requests that wait for no name server. It is long, because a busy machine may be slow. */
const MAX_FAST_MS = 1_500;

interface Setup {
  readonly api: Api;
  readonly fixture: Fixture;
  readonly dns: DnsServer;
}

/** Runs a test with an empty workspace, in a service of its own that asks a name server on loopback. */
function withDns(test: (setup: Setup) => Promise<void>): Promise<void> {
  return withDnsServer((dns) =>
    withFixture((fixture, api) => test({ api, fixture, dns }), { settings: { DNS_SERVERS: dns.address } }),
  );
}

const createDomain = ({ create }: Fixture, slug = SLUG) => create('/domains', { slug });
const toPath = (id: string) => `/domains/${id}/verification`;
const getVerification = ({ call }: Fixture, id: string) => call('GET', toPath(id));
const verify = ({ call }: Fixture, id: string) => call('POST', toPath(id));

/** Verifies a domain with an idempotency key. */
function verifyOnce({ call }: Api, { key }: Fixture, id: string, idempotencyKey: string): Promise<ApiResponse> {
  return call('POST', toPath(id), { key, headers: { 'Idempotency-Key': idempotencyKey } });
}

/** Returns the body of a response. */
function expectedBody(id: string, verified: boolean, problem = '', name = NAME) {
  return { domainId: id, verified, record: { type: 'TXT', name, value: id }, problem };
}

const noRecord = (name = NAME) =>
  `There is no TXT record at ${name}. Create the record, or wait until the name servers show it.`;

/** Answers of a name server that verify no domain, and the beginnings of the problems. */
const problems: Readonly<Record<string, readonly [DnsAnswer, problem: string]>> = {
  'a name that does not exist': ['NXDOMAIN', `There is no TXT record at ${NAME}.`],
  'a name without TXT records': ['NODATA', `There is no TXT record at ${NAME}.`],
  'another record': [[['v=spf1 -all']], `Found 1 TXT record at ${NAME}, but none matches.`],
  'several other records': [[['a'], ['b', 'c'], ['']], `Found 3 TXT records at ${NAME}, but none matches.`],
  'a failure of the server': ['SERVFAIL', `The name servers did not answer for ${NAME} (ESERVFAIL).`],
  'a refusal of the server': ['REFUSED', `The name servers did not answer for ${NAME} (EREFUSED).`],
  'no answer': ['silence', `The name servers did not answer for ${NAME} (ETIMEOUT).`],
};

suite('the verification of a domain', {
  'is shown with the expected record, without a lookup, also of an archived domain': () =>
    withDns(async ({ fixture, dns }) => {
      const { id } = await createDomain(fixture);
      dns.answers.set(NAME, [[id]]);
      assert.deepEqual(jsonOf(await getVerification(fixture, id)), expectedBody(id, false));
      await fixture.call('PATCH', `/domains/${id}`, { archived: true });
      assert.deepEqual(jsonOf(await getVerification(fixture, id.toUpperCase())), expectedBody(id, false));
      assert.deepEqual(dns.questions, []);
    }),

  'succeeds if the record exists, and looks up exactly this name once': () =>
    withDns(async ({ fixture, dns }) => {
      const { id } = await createDomain(fixture);
      const { id: parentId } = await createDomain(fixture, 'example.com');
      dns.answers.set(SLUG, [[id]]).set('_advocacy-challenge.example.com', [[id]]);
      assert.deepEqual(jsonOf(await verify(fixture, id)), expectedBody(id, false, noRecord()));
      dns.answers.set(NAME, [['v=spf1 -all'], ['"', id.toUpperCase().slice(0, 9), id.toUpperCase().slice(9), '" ']]);
      assert.deepEqual(jsonOf(await verify(fixture, id)), expectedBody(id, true));
      assert.deepEqual(jsonOf(await getVerification(fixture, id)), expectedBody(id, true));
      assert.equal(jsonOf(await fixture.call('GET', `/domains/${id}`)).verified, true);
      assert.equal(jsonOf(await fixture.call('GET', `/domains/${parentId}`)).verified, false);
      assert.deepEqual(dns.questions, [`udp ${NAME}`, `udp ${NAME}`]);
    }),

  'is kept without a lookup, whatever the name server would answer': () =>
    withDns(async ({ fixture, dns }) => {
      const { id } = await createDomain(fixture);
      dns.answers.set(NAME, [[id]]);
      const first = jsonOf(await verify(fixture, id));
      const stored = jsonOf(await fixture.call('GET', `/domains/${id}`));
      dns.answers.set(NAME, 'SERVFAIL');
      dns.questions.length = 0;
      assert.deepEqual(jsonOf(await verify(fixture, id)), first);
      assert.deepEqual(jsonOf(await fixture.call('GET', `/domains/${id}`)), stored);
      assert.deepEqual(dns.questions, []);
    }),

  'fails with a problem that says what the lookup found, and changes nothing': () =>
    withDns(async ({ fixture, dns }) => {
      const domain = await createDomain(fixture);
      await each(problems, async ([answer, beginning]) => {
        dns.answers.set(NAME, answer);
        const { problem, ...others } = jsonOf(await verify(fixture, domain.id));
        assert.ok(problem.startsWith(beginning), problem);
        assert.deepEqual({ ...others, problem: '' }, expectedBody(domain.id, false));
      });
      assert.deepEqual(jsonOf(await fixture.call('GET', `/domains/${domain.id}`)), domain);
    }),

  'is a conflict without a lookup if the domain is archived, also if it is verified': () =>
    withDns(async ({ api, fixture, dns }) => {
      const { id } = await createDomain(fixture);
      dns.answers.set(NAME, [[id]]);
      await fixture.call('PATCH', `/domains/${id}`, { archived: true });
      for (const verified of [false, true]) {
        if (verified) await api.app.domains.markVerified(fixture.workspaceId, id);
        assertError(await verify(fixture, id), 409, /^This domain is archived\. Unarchive it/);
        assert.deepEqual(jsonOf(await getVerification(fixture, id)), expectedBody(id, verified));
      }
      assert.deepEqual(dns.questions, []);
    }),

  'is a conflict without a lookup while another workspace has verified the domain and not archived it': () =>
    withDns(async ({ api, fixture: first, dns }) => {
      const second = await createFixture(api);
      const [{ id }, { id: otherId }] = [await createDomain(first), await createDomain(second)];
      dns.answers.set(NAME, [[id], [otherId]]);
      assert.equal(jsonOf(await verify(first, id)).verified, true);
      dns.questions.length = 0;
      assertError(await verify(second, otherId), 409, /^Another workspace has verified this domain\./);
      assert.deepEqual(dns.questions, []);
      assert.equal(jsonOf(await verify(first, id)).verified, true);
      await first.call('PATCH', `/domains/${id}`, { archived: true });
      assert.equal(jsonOf(await verify(second, otherId)).verified, true);
      assertError(await first.call('PATCH', `/domains/${id}`, { archived: false }), 409);
    }),

  'is not known to another workspace': () =>
    withDns(async ({ api, fixture, dns }) => {
      const other = await createFixture(api);
      const { id } = await createDomain(fixture);
      dns.answers.set(NAME, [[id]]);
      assertError(await getVerification(other, id), 404);
      assertError(await verify(other, id), 404);
      // The record with the ID of another workspace's domain does not verify this one.
      const { id: otherId } = await createDomain(other);
      assert.match(jsonOf(await verify(other, otherId)).problem, /^Found 1 TXT record/);
    }),

  'succeeds for one of two workspaces that verify the same domain at the same time': () =>
    withDns(async ({ api, fixture: first, dns }) => {
      const second = await createFixture(api);
      for (let round = 0; round < 10; round++) {
        const slug = `round-${round}.example`;
        const [{ id }, { id: otherId }] = [await createDomain(first, slug), await createDomain(second, slug)];
        dns.answers.set(`_advocacy-challenge.${slug}`, [[id], [otherId]]);
        const responses = await Promise.all([verify(first, id), verify(second, otherId)]);
        assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 409]);
        const domains = [await first.call('GET', `/domains/${id}`), await second.call('GET', `/domains/${otherId}`)];
        assert.deepEqual(domains.map(({ json }) => json.verified).sort(), [false, true]);
      }
    }),

  'is repeated with another idempotency key, and replayed without a lookup with the same one': () =>
    withDns(async ({ api, fixture, dns }) => {
      const { id } = await createDomain(fixture);
      const first = await verifyOnce(api, fixture, id, 'first');
      assert.deepEqual(jsonOf(first), expectedBody(id, false, noRecord()));
      dns.answers.set(NAME, [[id]]);
      const replayed = await verifyOnce(api, fixture, id, 'first');
      assert.equal(replayed.headers.get('idempotency-replayed'), 'true');
      assert.equal(replayed.text, first.text);
      assert.equal(dns.questions.length, 1);
      for (let times = 0; times < 2; times++) {
        assert.deepEqual(jsonOf(await verifyOnce(api, fixture, id, 'second')), expectedBody(id, true));
      }
      assert.equal(dns.questions.length, 2);
      await fixture.call('PATCH', `/domains/${id}`, { archived: true });
      assertError(await verifyOnce(api, fixture, id, 'third'), 409);
      await fixture.call('PATCH', `/domains/${id}`, { archived: false });
      assert.equal(jsonOf(await verifyOnce(api, fixture, id, 'third')).verified, true);
    }),

  'does not delay other requests while many lookups wait for the name server': () =>
    withDns(async ({ api, fixture, dns }) => {
      const count = 60;
      const slugs = Array.from({ length: count }, (_, i) => `silent-${i}.example`);
      const ids: string[] = [];
      for (const slug of slugs) {
        ids.push((await createDomain(fixture, slug)).id);
        dns.answers.set(`_advocacy-challenge.${slug}`, 'silence');
      }
      let endedCount = 0;
      const verifications = ids.map(async (id, i) => {
        const response = await (i % 2 === 0 ? verify(fixture, id) : verifyOnce(api, fixture, id, `key-${i}`));
        endedCount++;
        return response;
      });
      const all = Promise.all(verifications);
      // If an assertion below fails, the service stops before it responds.
      all.catch(doNothing);
      await waitUntil(() => dns.questions.length >= 10);
      const startedAt = performance.now();
      jsonOf(await fixture.call('GET', '/domains'));
      jsonOf(await fixture.call('POST', '/tags', { name: 'meanwhile' }), 201);
      await api.app.domains.markVerified(fixture.workspaceId, ids[0] as string);
      assertTransientError(await verifyOnce(api, fixture, ids[1] as string, 'key-1'), 409, /in progress/);
      assert.ok(performance.now() - startedAt < MAX_FAST_MS, `${performance.now() - startedAt} ms`);
      assert.equal(endedCount, 0);
      assert.equal(new Set(dns.questions).size, 10);
      // Now the name server answers the second try of each lookup.
      dns.answers.clear();
      const bodies = (await all).map((response) => jsonOf(response));
      assert.deepEqual(
        bodies.map(({ verified, problem }) => ({ verified, problem })),
        slugs.map((slug, i) => ({
          verified: i === 0,
          problem: i === 0 ? '' : noRecord(`_advocacy-challenge.${slug}`),
        })),
      );
    }),
});
