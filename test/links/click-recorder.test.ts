import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { ClickDeduplication } from '../../adapters/links/click-deduplication.ts';
import { ClickRecorder, type ClickResult } from '../../adapters/links/click-recorder.ts';
import type { VisitorHash } from '../../adapters/links/visitor-hash.ts';
import type { Link } from '../../core/link/link.ts';
import { each } from '../support/each.ts';
import { withMonotonicClock } from '../support/monotonic-clock.ts';
import { suite } from '../support/suite.ts';

const MINUTE_MS = 60_000;
const link = { key: 'a' } as Link;
const request = { headers: { 'user-agent': 'Mozilla/5.0 Firefox/140.0' } } as IncomingMessage;
const visitors = { hash: async (visitor: string) => visitor } as VisitorHash;

/** Visits of one visitor, each the process that serves it and the minute, and those that are counted. */
const cases: Record<string, { visits: string; counted: string; hasSharedVisits?: boolean }> = {
  'one process': { visits: 'A0 A1 A59 A61 A119 A122', counted: 'A0 A61 A122' },
  'two processes': { visits: 'A0 B59 B61 A62 B119 A122', counted: 'A0 B61 A122' },
  'two processes, while the shared visits are unavailable': {
    visits: 'A0 A1 B2 A61',
    counted: 'A0 B2 A61',
    hasSharedVisits: false,
  },
};

suite('the click of a visitor on a link', {
  'counts again an hour after the last counted click': () =>
    each(cases, async ({ visits, counted, hasSharedVisits = true }) => {
      const countedVisits: string[] = [];
      let [now, sharedUntil, current] = [0, 0, ''];
      const addSharedVisit = async () => {
        if (!hasSharedVisits) throw new Error('unavailable');
        if (sharedUntil > now) return false;
        sharedUntil = now + 60 * MINUTE_MS;
        return true;
      };
      const onClick = (result: ClickResult) => result === 'counted' && countedVisits.push(current);
      const createRecorder = () =>
        new ClickRecorder({ add: () => true }, visitors, new ClickDeduplication(addSharedVisit), onClick);
      const processes: Record<string, ClickRecorder> = { A: createRecorder(), B: createRecorder() };
      await withMonotonicClock(
        () => now,
        async () => {
          for (current of visits.split(' ')) {
            now = Number(current.slice(1)) * MINUTE_MS + 1;
            const recorder = processes[current[0] as string] as ClickRecorder;
            // Two simultaneous visits count at most once.
            for (const _ of [1, 2]) recorder.record(request, link, () => '127.0.0.1');
            await recorder.settle();
          }
        },
      );
      assert.equal(countedVisits.join(' '), counted);
    }),
});
