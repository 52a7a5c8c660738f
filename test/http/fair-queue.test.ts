import assert from 'node:assert/strict';
import { FairQueue } from '../../adapters/http/protection/fair-queue.ts';
import type { RejectionReason } from '../../adapters/http/responder.ts';
import { suite } from '../support/suite.ts';

/** The constants of adapters/http/protection/fair-queue.ts with the same names. */
const BURST_MS = 500;
const MAX_WAIT_MS = 500;
const MIN_WAITING_COUNT = 16;
const MAX_BURST_COUNT = 600;
const MAX_BURST_WAIT_MS = 8_000;
/** The arguments of the constructor of `FairQueue`. */
const MIN_IN_FLIGHT_COUNT = 4;
const MIN_WORKSPACE_IN_FLIGHT_COUNT = 2;
const PAUSE_MS = 250;

/** A queue with a simulated clock. Each request is a text, the name of its workspace. */
class Simulation {
  now = 1_000_000;
  readonly begun: string[] = [];
  readonly queue = new FairQueue<string>(MIN_IN_FLIGHT_COUNT, MIN_WORKSPACE_IN_FLIGHT_COUNT, PAUSE_MS);
  private readonly inFlight: string[] = [];

  add(workspace: string, count = 1): (RejectionReason | undefined)[] {
    return Array.from({ length: count }, () => this.queue.add(workspace, workspace, this.now));
  }

  /** Begins all requests that may begin. */
  begin(): void {
    for (let next = this.queue.next(this.now); next; next = this.queue.next(this.now)) {
      this.begun.push(next.request);
      this.inFlight.push(next.key);
    }
  }

  /**
   * Serves one request after another for a time. Each request takes `costMs`. Before each of them, adds new requests:
   * `arriving` has the number of new requests of each workspace. Returns the reasons of all rejections.
   */
  serve(milliseconds: number, costMs: number, arriving: Readonly<Record<string, number>> = {}): RejectionReason[] {
    const rejections: (RejectionReason | undefined)[] = [];
    for (const end = this.now + milliseconds; this.now < end; this.now += costMs) {
      for (const [workspace, count] of Object.entries(arriving)) rejections.push(...this.add(workspace, count));
      const next = this.queue.next(this.now);
      if (next) {
        this.begun.push(next.request);
        this.queue.end(next.key, this.now);
      }
    }
    return rejections.filter((it) => it !== undefined);
  }

  /** Ends all requests that `begin` has begun. */
  end(): void {
    for (const key of this.inFlight.splice(0)) this.queue.end(key, this.now);
  }
}

suite('a fair queue', {
  'rejects nothing during a pause of the storage, nor right after it': () => {
    const simulation = new Simulation();
    simulation.serve(2_000, 10, { a: 1 });
    simulation.add('a', MIN_IN_FLIGHT_COUNT);
    simulation.begin();
    const rejections: (RejectionReason | undefined)[] = [];
    for (const end = simulation.now + 3_000; simulation.now < end; simulation.now += 10) {
      rejections.push(...simulation.add(simulation.now % 20 ? 'a' : 'b'));
      simulation.begin();
      assert.deepEqual(simulation.queue.takeLate(simulation.now), []);
    }
    simulation.end();
    assert.deepEqual(simulation.queue.takeLate(simulation.now), []);
    rejections.push(...simulation.serve(400, 1, { a: 1 }));
    assert.deepEqual(rejections.filter(Boolean), []);
  },

  'begins one request of each workspace in a round': () => {
    const simulation = new Simulation();
    simulation.add('a', 4);
    simulation.add('b', 2);
    simulation.add('c');
    simulation.serve(100, 10);
    assert.equal(simulation.begun.join(''), 'abcabaa');
  },

  'admits a burst to an idle service, and rejects none of the requests while they wait': () => {
    const simulation = new Simulation();
    assert.deepEqual(new Set(simulation.add('a', MAX_BURST_COUNT)), new Set([undefined]));
    simulation.serve(6_000, 10);
    assert.deepEqual(simulation.queue.takeLate(simulation.now), []);
    assert.equal(simulation.begun.length, MAX_BURST_COUNT);
  },

  'rejects requests that would wait too long behind others of their workspace, but no requests of another workspace':
    () => {
      for (const costMs of [0.5, 5, 50]) {
        const simulation = new Simulation();
        simulation.serve(10 * BURST_MS, costMs, { a: 3 });
        const served = simulation.begun.length;
        const rejections = simulation.serve(2_000, costMs, { a: 3 });
        assert.deepEqual(new Set(rejections), new Set(['workspace']));
        const share = (simulation.begun.length - served) / (2_000 / costMs);
        assert.ok(share > 0.95, `${costMs}: ${share}`);
        const waitMs = simulation.queue.length * costMs;
        assert.ok(waitMs <= Math.max(MAX_WAIT_MS + 2 * costMs, MIN_WAITING_COUNT * costMs), `${costMs}: ${waitMs}`);
        assert.deepEqual(simulation.add('b', 20), Array(20).fill(undefined));
      }
    },

  'rejects no requests while few wait, however slow the service is': () => {
    const simulation = new Simulation();
    simulation.add('a', MIN_WAITING_COUNT - 1);
    assert.deepEqual(simulation.serve(20_000, 1_000, { a: 1 }), []);
  },

  'rejects requests of any workspace if serving one request of each waiting workspace would take too long': () => {
    const simulation = new Simulation();
    for (let i = 0; i < 2_000; i++) simulation.add(`workspace ${i}`);
    simulation.serve(BURST_MS + 100, 10);
    assert.deepEqual(simulation.add('newcomer'), ['service']);
  },

  'rejects waiting requests early if they exceed the size of a burst or cannot be served in time': () => {
    const fast = new Simulation();
    fast.add('a', 4 * MAX_BURST_COUNT);
    fast.serve(BURST_MS + 100, 5);
    assert.ok(fast.queue.takeLate(fast.now).length > 0);
    assert.equal(fast.queue.length, MAX_BURST_COUNT);
    const slow = new Simulation();
    slow.add('a', MAX_BURST_COUNT);
    slow.serve(BURST_MS + 100, 50);
    slow.queue.takeLate(slow.now);
    const waitMs = slow.queue.length * 50;
    assert.ok(waitMs > MAX_BURST_WAIT_MS / 2 && waitMs <= MAX_BURST_WAIT_MS + 1_000, `${waitMs} ms`);
  },

  'rejects the excess of a burst only from the workspace that sent most of the burst': () => {
    const simulation = new Simulation();
    simulation.add('a', 2 * MAX_BURST_COUNT);
    simulation.add('b', 100);
    simulation.serve(BURST_MS + 100, 5);
    assert.deepEqual(new Set(simulation.queue.takeLate(simulation.now)), new Set(['a']));
  },

  'rejects requests that have waited too long, even while no request is served': () => {
    const simulation = new Simulation();
    simulation.begin();
    simulation.add('a', MIN_WORKSPACE_IN_FLIGHT_COUNT + 3);
    simulation.begin();
    simulation.now += MAX_BURST_WAIT_MS + 1;
    assert.deepEqual(simulation.queue.takeLate(simulation.now), ['a', 'a', 'a']);
    assert.equal(simulation.queue.length, 0);
  },

  'limits the requests in flight of each workspace and in total, and raises the limits with the throughput': () => {
    const simulation = new Simulation();
    for (const workspace of ['a', 'b', 'c']) simulation.add(workspace, 100);
    simulation.begin();
    assert.equal(simulation.begun.join(''), 'abca');
    // Serves one request of each workspace every 10 ms. So 60 requests are served in the target latency of 200 ms.
    for (let i = 0; i < 100; i++) {
      simulation.now += 10;
      simulation.end();
      for (const workspace of ['a', 'b', 'c']) simulation.queue.begin(workspace);
      for (const workspace of ['a', 'b', 'c']) simulation.queue.end(workspace, simulation.now);
    }
    simulation.begun.length = 0;
    simulation.begin();
    assert.ok(simulation.begun.length > 40 && simulation.begun.length < 80, `${simulation.begun.length}`);
  },

  'does not count a request as in flight while it waits for its client, and counts it again afterwards': () => {
    const { queue, now } = new Simulation();
    queue.add('a', 'first', now);
    assert.ok(queue.next(now));
    queue.end('a');
    for (let i = 0; i < 3; i++) queue.add('a', 'next', now);
    assert.ok(queue.next(now));
    queue.begin('a');
    assert.equal(queue.next(now), undefined);
  },
});
