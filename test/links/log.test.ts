import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { createLinkLogObserver } from '../../adapters/links/log.ts';
import type { LinkOutcome } from '../../adapters/links/responses.ts';
import { withMonotonicClock } from '../support/monotonic-clock.ts';
import { suite } from '../support/suite.ts';

const OUTAGE = 'The storage of short links and clicks is unavailable.';
const END = 'The storage of short links and clicks is available again.';

suite('the log of short links', {
  'has the end of an outage at the first response that shows that the storage is available': async () => {
    const messages: string[] = [];
    const stream = new Writable({ write: (line, _, done) => done(void messages.push(JSON.parse(String(line)).msg)) });
    const observer = createLinkLogObserver(pino({ level: 'warn' }, stream));
    let now = 0;
    const respondAt = (time: number, ...outcomes: LinkOutcome[]) => {
      now = time;
      for (const outcome of outcomes) observer.onResponse?.(outcome, 1);
    };
    await withMonotonicClock(
      () => now,
      () => {
        respondAt(0, 'destination');
        observer.onError?.(new Error('lost'));
        respondAt(1, 'unavailable');
        // For five seconds after the last error, a destination may come from the cache.
        respondAt(4_999, 'destination');
        respondAt(5_000, 'bad_request', 'method_not_allowed', 'limited', 'unavailable');
        assert.deepEqual(messages, [OUTAGE]);
        respondAt(5_000, 'not_found', 'destination');
        assert.deepEqual(messages, [OUTAGE, END]);
      },
    );
  },
});
