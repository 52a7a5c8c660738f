import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { ClickRecorder, type ClickResult } from '../../adapters/links/click-recorder.ts';
import type { VisitorHash } from '../../adapters/links/visitor-hash.ts';
import type { Link } from '../../core/link/link.ts';
import { withMonotonicClock } from '../support/monotonic-clock.ts';
import { suite } from '../support/suite.ts';

const HOUR_MS = 3_600_000;
const link = { key: 'a' } as Link;
const request = { headers: { 'user-agent': 'Mozilla/5.0 Firefox/140.0' } } as IncomingMessage;
const visitors = { hash: async (visitor: string) => visitor } as VisitorHash;

suite('the click of a visitor on a link', {
  'counts again an hour after the last counted click': async () => {
    const results: ClickResult[] = [];
    let now = 0;
    await withMonotonicClock(
      () => now,
      async () => {
        const recorder = new ClickRecorder({ countClick: () => true }, visitors, undefined, (it) => results.push(it));
        for (now of [0, HOUR_MS - 1, HOUR_MS, 2 * HOUR_MS - 1]) {
          recorder.record(request, link, () => '127.0.0.1');
          await recorder.settle();
        }
      },
    );
    assert.deepEqual(results, ['counted', 'repeated', 'counted', 'repeated']);
  },
});
