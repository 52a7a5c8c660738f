import assert from 'node:assert/strict';
import {
  type Attempt,
  acquireLease,
  changeWebhook,
  computeRetryDelay,
  getWaitMs,
  newWebhook,
  recordAttempt,
  skipTo,
  type Webhook,
} from '../../core/webhook/webhook.ts';
import { WEBHOOK_PROBLEMS } from '../../core/webhook/webhook-sender.ts';
import { DAY, MINUTE, NOON, OWN, SECOND } from '../support/core.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';

const HOUR = 60 * MINUTE;
const LEASE = 30 * SECOND;
const URL_A = 'https://a.example';

const timestamp = (time: number) => new Date(time).toISOString();

const fresh = newWebhook(OWN, 'id', { url: URL_A }, 'whsec_secret', 4, NOON);
const leased: Webhook = { ...fresh, lease: { owner: 'me', expiresAt: NOON + LEASE } };
const failing: Webhook = {
  ...fresh,
  failingSince: timestamp(NOON - HOUR),
  failureCount: 3,
  lastStatus: 500,
  lastProblem: 'status',
  nextAttemptAt: timestamp(NOON + HOUR),
};

const succeeded = { status: 204, problem: '', durationMs: 1 } as const;
const failed = { status: 500, problem: 'status', durationMs: 1 } as const;

/** Records an attempt of `me` to deliver event 5 to a webhook, which began with the webhook `snapshot`. */
function record(webhook: Webhook, changes: Partial<Attempt> = {}, now = NOON, snapshot = webhook): Webhook {
  const { lease } = leased;
  const attempt = { sequence: 5, jitter: 0.5, ...failed, ...changes };
  return recordAttempt({ ...webhook, lease }, { ...snapshot, lease }, attempt, now);
}

suite('the wait after a failed attempt', {
  'is 5 s, 5 min, 30 min, 2 h, 5 h, and then 10 h, each 20 % more or less': () => {
    const delays = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR, 10 * HOUR];
    return each(
      delays.map((delay, i): [string, number] => [String(i + 1), delay]),
      (delay, failureCount) => {
        const compute = (jitter: number) => Math.round(computeRetryDelay(Number(failureCount), jitter));
        assert.deepEqual([compute(0), compute(0.5), compute(1)], [delay * 0.8, delay, delay * 1.2]);
      },
    );
  },

  'is at most doubled by Retry-After of a 429 or a 503': () => {
    const cases = [
      { retryAfterMs: undefined, expected: 5 * SECOND },
      { retryAfterMs: 1, expected: 5 * SECOND },
      { retryAfterMs: 7 * SECOND, expected: 7 * SECOND },
      { retryAfterMs: 10 * SECOND, expected: 10 * SECOND },
      { retryAfterMs: 9 * DAY, expected: 10 * SECOND },
    ];
    for (const { retryAfterMs, expected } of cases) {
      for (const status of [429, 503, 500, 400, 302]) {
        const outcome = { status, problem: 'status', retryAfterMs, durationMs: 1 } as const;
        const { nextAttemptAt } = record(fresh, outcome);
        const isHeard = status === 429 || status === 503;
        assert.equal(nextAttemptAt, timestamp(NOON + (isHeard ? expected : 5 * SECOND)), `${status} ${retryAfterMs}`);
      }
    }
  },
});

suite('an attempt', {
  'that succeeds moves the webhook, and clears its failures': () => {
    const { updatedAt, ...webhook } = record(failing, succeeded);
    const state = { after: 5, failingSince: null, failureCount: 0, nextAttemptAt: null, lease: null };
    assert.deepEqual({ updatedAt, ...webhook }, { ...failing, ...state, lastStatus: 204, lastProblem: '' });
  },

  'that fails keeps the position, and the time of the first failure': () => {
    const first = record(fresh);
    const state = { failingSince: timestamp(NOON), failureCount: 1, nextAttemptAt: timestamp(NOON + 5 * SECOND) };
    assert.deepEqual(first, { ...fresh, ...state, lastStatus: 500, lastProblem: 'status' });
    const outcome = { status: null, problem: 'timeout', durationMs: 1 } as const;
    const second = record(first, outcome, NOON + MINUTE);
    const nextAttemptAt = timestamp(NOON + 6 * MINUTE);
    assert.deepEqual(second, { ...first, failureCount: 2, nextAttemptAt, lastStatus: null, lastProblem: 'timeout' });
  },

  'that gets the status 410 disables the webhook, and no other failure does': () => {
    for (const status of [410, 404, 301, 500, null]) {
      for (const problem of WEBHOOK_PROBLEMS.filter((it) => it !== '' && (it === 'status') === (status !== null))) {
        const webhook = record(fresh, { status, problem });
        assert.equal(webhook.enabled, status !== 410, `${status} ${problem}`);
        assert.equal(webhook.nextAttemptAt === null, status === 410);
        assert.equal(webhook.failingSince, timestamp(NOON));
      }
    }
  },

  'that fails after 5 days of failures disables the webhook': () => {
    const since = { ...failing, failureCount: 6, failingSince: timestamp(NOON - 5 * DAY) };
    assert.equal(record(since, {}, NOON - 1).enabled, true);
    const { enabled, nextAttemptAt, failingSince, updatedAt } = record(since);
    assert.deepEqual([enabled, nextAttemptAt, failingSince], [false, null, since.failingSince]);
    assert.equal(updatedAt, timestamp(NOON));
    // The clock has jumped: nobody tried for 5 days.
    assert.equal(record({ ...since, failureCount: 5 }).enabled, true);
  },

  'that fails over and over disables the webhook after 5 days, and before 6 days': () => {
    for (const jitter of [0, 0.5, 1]) {
      let [webhook, now] = [fresh, NOON];
      while (webhook.enabled) {
        now += getWaitMs(webhook, now);
        webhook = record(webhook, { jitter }, now);
      }
      assert.ok(now - NOON >= 5 * DAY && now - NOON < 6 * DAY, `${(now - NOON) / DAY} days`);
    }
  },

  'that has lost its lease changes nothing': () => {
    const attempt = { ...succeeded, sequence: 5, jitter: 0 };
    for (const lease of [null, { owner: 'other', expiresAt: NOON + LEASE }]) {
      const current = { ...fresh, lease };
      assert.equal(recordAttempt(current, leased, attempt, NOON), current);
    }
  },

  'does not count if the URL or the position has changed meanwhile': () => {
    for (const change of [{ url: 'https://b.example' }, { after: 2 }]) {
      for (const outcome of [succeeded, failed, { status: 410, problem: 'status', durationMs: 1 } as const]) {
        const snapshot = { ...fresh, ...change };
        assert.deepEqual(record(fresh, outcome, NOON, snapshot), fresh);
      }
    }
  },

  'that fails plans no other if the webhook was disabled meanwhile': () => {
    const { enabled, nextAttemptAt } = record({ ...fresh, enabled: false }, {}, NOON, fresh);
    assert.deepEqual([enabled, nextAttemptAt], [false, null]);
  },
});

suite('the lease of an attempt', {
  'is given if the webhook is due, has no other lease, and has not changed': () => {
    const other = { owner: 'other', expiresAt: NOON + 1 };
    const cases: Readonly<Record<string, readonly [current: Webhook, isGiven: boolean]>> = {
      fresh: [fresh, true],
      disabled: [{ ...fresh, enabled: false }, false],
      moved: [{ ...fresh, after: 5 }, false],
      'with another URL': [{ ...fresh, url: 'https://b.example' }, false],
      'with other types': [{ ...fresh, types: ['share.created'] }, false],
      leased: [{ ...fresh, lease: other }, false],
      'with an expired lease': [{ ...fresh, lease: { ...other, expiresAt: NOON } }, true],
      'that waits': [{ ...failing, nextAttemptAt: timestamp(NOON + 1) }, false],
      'that is due': [{ ...failing, nextAttemptAt: timestamp(NOON) }, true],
    };
    return each(cases, ([current, isGiven]) => {
      const lease = { owner: 'me', expiresAt: NOON + LEASE };
      assert.deepEqual(acquireLease(current, fresh, 'me', NOON), isGiven ? { ...current, lease } : current);
    });
  },

  'and the next attempt are not waited for if the clock was set back': () => {
    const next = (nextAttemptAt: number, failureCount: number) =>
      getWaitMs({ ...failing, nextAttemptAt: timestamp(nextAttemptAt), failureCount }, NOON);
    assert.equal(next(NOON + 12 * SECOND, 1), 12 * SECOND);
    assert.equal(next(NOON + 12 * SECOND + 1, 1), 0);
    assert.equal(next(NOON + DAY, 9), DAY);
    assert.equal(next(NOON + 2 * DAY, 9), 0);
    const lease = (expiresAt: number) => getWaitMs({ ...fresh, lease: { owner: 'other', expiresAt } }, NOON);
    assert.deepEqual(
      [LEASE, 2 * LEASE + 1, -1].map((ms) => lease(NOON + ms)),
      [LEASE, 0, 0],
    );
  },
});

suite('a webhook', {
  'skips events of other types, unless it has changed meanwhile': () => {
    assert.equal(skipTo(fresh, fresh, 9).after, 9);
    for (const change of [{ after: 2 }, { types: ['share.created'] }] as const) {
      const changed = { ...fresh, ...change };
      assert.equal(skipTo(changed, fresh, 9), changed);
    }
  },

  'counts as not failing after a change of its URL or position, or if it is enabled': () => {
    const cleared = { failingSince: null, failureCount: 0, nextAttemptAt: null };
    const cases: Readonly<Record<string, readonly [change: Parameters<typeof changeWebhook>[1], state: object]>> = {
      url: [{ url: 'https://b.example' }, { url: 'https://b.example', ...cleared }],
      after: [{ after: 0 }, { after: 0, ...cleared }],
      'after, beyond the newest event': [{ after: 99 }, { after: 9, ...cleared }],
      enabled: [{ enabled: true }, cleared],
      disabled: [{ enabled: false }, { enabled: false, nextAttemptAt: null }],
      'the same URL and position': [{ url: URL_A, after: 4 }, {}],
      'label and types': [
        { label: 'a', types: ['share.created'] },
        { label: 'a', types: ['share.created'] },
      ],
      nothing: [{}, {}],
    };
    return each(cases, ([change, state]) => {
      const isChanged = Object.keys(state).length > 0;
      const updatedAt = isChanged ? timestamp(NOON + 1) : failing.updatedAt;
      assert.deepEqual(changeWebhook(failing, change, 9, NOON + 1), { ...failing, ...state, updatedAt });
    });
  },

  'does not change if it is enabled, and does not fail': () => {
    assert.equal(changeWebhook(fresh, { enabled: true }, 9, NOON + 1), fresh);
  },
});
