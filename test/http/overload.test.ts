import assert from 'node:assert/strict';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { Overload } from '../../adapters/http/overload.ts';
import type { Exchange } from '../../adapters/http/replies.ts';
import { bytesOf, Crowd } from '../support/crowd.ts';
import { converse } from '../support/raw.ts';
import { serving } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const ALWAYS = 500;
const AT_MOST = 10_000;
const FEWEST_TENS = 200;
const MOST_TENS = 6_400;
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
      const exchange = { startedAt: performance.now() + milliseconds } as Exchange;
      const begin = () => {
        this.begun.push(id);
        whenBegun(exchange);
      };
      const refuse = () => {
        this.refused.push(id);
        this.overload.replied(exchange);
      };
      this.overload.add(exchange, begin, refuse);
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

  'are refused before the first of them is begun where there is no end of them': async () => {
    const requests = new Requests(new Overload());
    const all = requests.come(AT_MOST + 10, 0);
    assert.deepEqual(requests.refused, numbers(AT_MOST, AT_MOST + 10));
    await all;
    assert.deepEqual(requests.begun, numbers(0, AT_MOST));
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
      const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost:\r\n${headers}\r\n`;
      const ten = get('/a').repeat(8) + get('/healthz') + get('/readyz');
      const isProbe = (_: unknown, i: number) => i % 10 >= 8;
      const sent = async (tens: number) => {
        const requests = ten.repeat(tens) + get('/a', 'Connection: close\r\n');
        const replies = await Promise.all(Array.from({ length: 8 }, () => converse(url, [requests], false)));
        for (const { length } of replies) assert.equal(length, 10 * tens + 1);
        const probes = replies.flatMap((all) => all.filter(isProbe));
        assert.deepEqual([...new Set(probes.map(({ status }) => status))], [200]);
        return replies.flatMap((all) => all.filter((reply, i) => !isProbe(reply, i)));
      };
      // How many are too many is for the machine to say.
      let others = await sent(FEWEST_TENS);
      for (let tens = 2 * FEWEST_TENS; !others.some(({ status }) => status === 429); tens *= 2) {
        assert.ok(tens <= MOST_TENS, 'none was refused');
        others = await sent(tens);
      }
      assert.deepEqual([...new Set(others.map(({ status }) => status))], [404, 429]);
      for (const { headers, body } of others.filter(({ status }) => status === 429)) {
        assert.equal(headers.get('retry-after'), '1');
        assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
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
