import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { createDnsDomainRecords } from '../../adapters/node/dns-domain-records.ts';
import type { DomainRecordLookup } from '../../core/domain/domain-records.ts';
import { LOOKUP_LIMITS } from '../../core/limits.ts';
import { type DnsAnswer, type DnsServer, withDnsServer } from '../support/dns-server.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Nothing listens on this port of loopback. */
const CLOSED_ADDRESS = '127.0.0.1:1';

const found = (...records: string[][]): DomainRecordLookup => ({ outcome: 'found', records });
const failed = (code: string): DomainRecordLookup => ({ outcome: 'failed', code });
const longRecords = Array.from({ length: 20 }, (_, i) => [`${i}`, 'x'.repeat(255)]);

/** Answers of a name server, the outcome of the lookup, and the protocols of its questions. */
const outcomes: Readonly<Record<string, readonly [DnsAnswer, DomainRecordLookup, protocols?: string]>> = {
  'a record': [[['one']], found(['one'])],
  'several records with several strings': [[['on', 'e'], ['two'], ['']], found(['on', 'e'], ['two'], [''])],
  'records that are too long for a datagram': [longRecords, found(...longRecords), 'udp tcp'],
  'a name that does not exist': ['NXDOMAIN', { outcome: 'none' }],
  'a name without TXT records': ['NODATA', { outcome: 'none' }],
  'an answer without records': [[], { outcome: 'none' }],
  'a failure of the server': ['SERVFAIL', failed('ESERVFAIL')],
  'a refusal of the server': ['REFUSED', failed('EREFUSED')],
};

/** Starts lookups of names that the server never answers. Resolves when all that may begin have asked the server. */
async function startSilentLookups(
  server: DnsServer,
  count: number,
  limits: Partial<typeof LOOKUP_LIMITS>,
): Promise<{ lookups: Promise<DomainRecordLookup>[]; countAsked: () => number }> {
  const records = createDnsDomainRecords([server.address], { ...LOOKUP_LIMITS, ...limits });
  const names = Array.from({ length: count }, (_, i) => `silent-${i}.example`);
  for (const name of names) server.answers.set(name, 'silence');
  const lookups = names.map((name) => records.findTxtRecords(name));
  const countAsked = () => new Set(server.questions).size;
  await waitUntil(() => countAsked() >= Math.min(count, LOOKUP_LIMITS.maxCount));
  return { lookups, countAsked };
}

suite('the lookup of TXT records', {
  'returns what the name server answers, and asks once': () =>
    withDnsServer((server) =>
      each(outcomes, async ([answer, expected, protocols = 'udp']) => {
        server.questions.length = 0;
        server.answers.set('a.example', answer);
        const records = createDnsDomainRecords([server.address], LOOKUP_LIMITS);
        assert.deepEqual(await records.findTxtRecords('a.example'), expected);
        assert.deepEqual(
          server.questions,
          protocols.split(' ').map((protocol) => `${protocol} a.example`),
        );
      }),
    ),

  'uses no earlier answer': () =>
    withDnsServer(async ({ address, answers }) => {
      const records = createDnsDomainRecords([address], LOOKUP_LIMITS);
      assert.deepEqual(await records.findTxtRecords('a.example'), { outcome: 'none' });
      answers.set('a.example', [['one']]);
      assert.deepEqual(await records.findTxtRecords('a.example'), found(['one']));
      answers.set('a.example', [['two']]);
      assert.deepEqual(await records.findTxtRecords('a.example'), found(['two']));
    }),

  'asks the next server if one is unavailable': () =>
    withDnsServer(async ({ address, answers }) => {
      answers.set('a.example', [['one']]);
      const records = createDnsDomainRecords([CLOSED_ADDRESS, address], LOOKUP_LIMITS);
      assert.deepEqual(await records.findTxtRecords('a.example'), found(['one']));
    }),

  'fails with a code if no server is available': async () => {
    const records = createDnsDomainRecords([CLOSED_ADDRESS], LOOKUP_LIMITS);
    assert.deepEqual(await records.findTxtRecords('a.example'), failed('ECONNREFUSED'));
  },

  'asks a silent server twice, and ends after five seconds': () =>
    withDnsServer(async ({ address, answers, questions }) => {
      answers.set('a.example', 'silence');
      const startedAt = performance.now();
      assert.deepEqual(
        await createDnsDomainRecords([address], LOOKUP_LIMITS).findTxtRecords('a.example'),
        failed('ETIMEOUT'),
      );
      const milliseconds = performance.now() - startedAt;
      assert.ok(milliseconds > 3_900 && milliseconds < 5_500, `${milliseconds} ms`);
      assert.deepEqual(questions, ['udp a.example', 'udp a.example']);
    }),

  'ends at the timeout, which does not include the time to wait for other lookups': () =>
    withDnsServer(async (server) => {
      const { lookups, countAsked } = await startSilentLookups(server, 12, { timeoutMs: 400 });
      await delay(100);
      assert.equal(countAsked(), 10);
      const startedAt = performance.now();
      assert.deepEqual(await Promise.all(lookups), Array(12).fill(failed('ETIMEOUT')));
      assert.ok(performance.now() - startedAt > 400, 'the last two lookups have a timeout of their own');
      assert.equal(countAsked(), 12);
    }),

  'is busy if it would wait too long for other lookups, and then asks nothing': () =>
    withDnsServer(async (server) => {
      const { lookups, countAsked } = await startSilentLookups(server, 12, { timeoutMs: 600, maxWaitMs: 200 });
      const silent = Array(10).fill(failed('ETIMEOUT'));
      assert.deepEqual(await Promise.all(lookups), [...silent, { outcome: 'busy' }, { outcome: 'busy' }]);
      assert.equal(countAsked(), 10);
    }),

  'frees its place if the lookup that waited for it has given up': () =>
    withDnsServer(async (server) => {
      const records = createDnsDomainRecords([server.address], { maxCount: 1, maxWaitMs: 100, timeoutMs: 300 });
      server.answers.set('silent.example', 'silence');
      const [first, second] = [records.findTxtRecords('silent.example'), records.findTxtRecords('a.example')];
      assert.deepEqual(await Promise.all([first, second]), [failed('ETIMEOUT'), { outcome: 'busy' }]);
      assert.deepEqual(await records.findTxtRecords('a.example'), { outcome: 'none' });
    }),
});
