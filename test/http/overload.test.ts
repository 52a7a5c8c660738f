import assert from 'node:assert/strict';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { Overload } from '../../adapters/http/overload.ts';
import type { Exchange } from '../../adapters/http/replies.ts';
import { bytesOf, Crowd, type Told } from '../support/crowd.ts';
import { converse } from '../support/raw.ts';
import { serving } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { campaignBody } from '../support/tenants.ts';

const ALWAYS = 500;
const PROBES_AT_ONCE = 20;
const CAMPAIGNS = 60;
const FEWEST = 600;
const MOST = 9_600;
const LONG_AGO = -60_000;
const LONGER_THAN_PATIENCE_MS = 600;

/** What became of requests that were added to an overload, each by its number. */
class Requests {
  readonly begun: number[] = [];
  readonly refused: number[] = [];
  private count = 0;

  constructor(private readonly overload: Overload) {}

  /** Adds some that came so many milliseconds from now, and lets the event loop turn until each is begun or refused. */
  async come(number: number, milliseconds: number, whenBegun: (exchange: Exchange) => void = () => undefined) {
    for (let i = 0; i < number; i++) {
      const id = this.count++;
      const exchange = {} as Exchange;
      const begin = () => {
        this.begun.push(id);
        whenBegun(exchange);
      };
      const refuse = () => {
        this.refused.push(id);
        this.overload.replied(exchange);
      };
      this.overload.add(exchange, begin, refuse, performance.now() + milliseconds);
    }
    while (this.begun.length + this.refused.length < this.count) await nextTurn();
  }
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

suite('requests that are under way', {
  'are begun in the order of their coming, and the newest are refused where they are many and wait for long':
    async () => {
      const requests = new Requests(new Overload());
      await requests.come(2 * ALWAYS, LONG_AGO);
      const { begun, refused } = requests;
      assert.ok(refused.length > 0 && refused.length <= ALWAYS, `${refused.length}`);
      assert.deepEqual(begun, numbers(0, begun.length));
      assert.deepEqual(
        refused.toSorted((a, b) => a - b),
        numbers(begun.length, 2 * ALWAYS),
      );
    },

  'are not refused while they are few, however long they wait': async () => {
    const requests = new Requests(new Overload());
    await requests.come(ALWAYS, LONG_AGO);
    assert.deepEqual(requests.begun, numbers(0, ALWAYS));
  },

  'are not refused while none waits for long, however many they are': async () => {
    const requests = new Requests(new Overload());
    await requests.come(10 * ALWAYS, 0);
    assert.equal(requests.begun.length, 10 * ALWAYS);
  },

  'do not count when they are answered': async () => {
    const overload = new Overload();
    const requests = new Requests(overload);
    for (let i = 0; i < 4; i++) await requests.come(ALWAYS, LONG_AGO, (exchange) => overload.replied(exchange));
    assert.deepEqual(requests.begun, numbers(0, 4 * ALWAYS));
  },

  'do not count while they wait for a client, and count as new ones afterwards': async () => {
    const overload = new Overload();
    const requests = new Requests(overload);
    let arrive = (): void => undefined;
    const bodies = new Promise<void>((resolve) => (arrive = resolve));
    for (let i = 0; i < 4; i++) {
      await requests.come(ALWAYS, LONG_AGO, (exchange) => overload.whileWaitingFor(exchange, bodies, () => false));
    }
    arrive();
    await nextTurn();
    await requests.come(1, LONG_AGO);
    assert.deepEqual(requests.begun, numbers(0, 4 * ALWAYS + 1));
  },

  'do not count when they were answered while they waited for a client': async () => {
    const overload = new Overload();
    const requests = new Requests(overload);
    let arrive = (): void => undefined;
    const bodies = new Promise<void>((resolve) => (arrive = resolve));
    await requests.come(ALWAYS, LONG_AGO, (exchange) => overload.whileWaitingFor(exchange, bodies, () => true));
    arrive();
    await delay(LONGER_THAN_PATIENCE_MS);
    await requests.come(ALWAYS, 0);
    assert.equal(requests.refused.length, 0);
  },
});

suite('probes', {
  'are begun as they come, and in their turn where they are a flood; none is refused': async () => {
    const overload = new Overload();
    let begun = 0;
    const begin = (): void => {
      begun++;
    };
    for (let i = 0; i < 2 * ALWAYS; i++) overload.addProbe({} as Exchange, begin);
    assert.equal(begun, PROBES_AT_ONCE);
    while (begun < 2 * ALWAYS) await nextTurn();
    overload.addProbe({} as Exchange, begin);
    assert.equal(begun, 2 * ALWAYS + 1);
  },
});

suite('many requests', {
  'are all served where some hundreds come at once, again and again': () =>
    serving(async ({ url }) => {
      for (const size of [200, 500]) {
        const crowd = await Crowd.open(url, size);
        for (let burst = 0; burst < 3; burst++) {
          const answers = await crowd.atOnce(bytesOf('GET', '/campaigns'));
          assert.equal(answers.filter(({ status }) => status === 200).length, size);
        }
        crowd.close();
      }
    }),

  'are refused where there are too many, before anything else is looked at; health and readiness are told': () =>
    serving(async ({ url, call }) => {
      const body = { ...campaignBody(), description: 'z'.repeat(5_000) };
      for (let i = 0; i < CAMPAIGNS; i++) assert.equal((await call('POST', '/campaigns', { body })).status, 201);
      const slow = bytesOf('GET', '/campaigns?search=zq');
      // The last byte of its body never comes.
      const withoutKey = Buffer.from('POST /tags HTTP/1.1\r\nHost:\r\nContent-Length: 13\r\n\r\n{"name":"a"}');
      const ask = async (connections: number) => {
        const crowds = await Promise.all([connections, connections, 1, 1].map((size) => Crowd.open(url, size)));
        const requests = [slow, withoutKey, bytesOf('GET', '/healthz'), bytesOf('GET', '/readyz')];
        const answers = await Promise.all(crowds.map((crowd, i) => crowd.atOnce(requests[i] as Buffer)));
        for (const crowd of crowds) crowd.close();
        return answers as [slow: Told[], withoutKey: Told[], health: Told[], readiness: Told[]];
      };
      const statuses = (answers: readonly Told[]) => [...new Set(answers.map(({ status }) => status))].sort();
      // How many are too many is for the machine to say.
      let answers = await ask(FEWEST);
      for (let size = 2 * FEWEST; !statuses(answers[1]).includes(429); size *= 2) {
        assert.ok(size <= MOST, 'none was refused');
        answers = await ask(size);
      }
      const [slowOnes, withoutKeys, ...probes] = answers;
      assert.ok(statuses(slowOnes).every((status) => [200, 429].includes(status)));
      assert.ok(statuses(withoutKeys).every((status) => [401, 429].includes(status)));
      assert.deepEqual(probes.map(statuses), [[200], [200]]);
      for (const { head, body } of withoutKeys.filter(({ status }) => status === 429)) {
        assert.match(head, /\r\nretry-after: 1\r\n/i);
        assert.match(head, /\r\nx-request-id: [0-9a-f-]{36}\r\n/i);
        assert.equal(JSON.parse(body).error.code, 'rate_limit_exceeded');
      }
      assert.equal((await call('GET', '/campaigns')).status, 200);
    }),

  'are answered where their client ends its side behind them': () =>
    serving(async ({ url }) => {
      const replies = await converse(url, Array(ALWAYS).fill(bytesOf('GET', '/campaigns')), true);
      assert.deepEqual(
        replies.map(({ status }) => status),
        Array(ALWAYS).fill(200),
      );
    }),
});
