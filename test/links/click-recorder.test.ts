import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { type AddSharedVisit, ClickRecorder, type ClickResult } from '../../adapters/links/click-recorder.ts';
import { RecentVisits } from '../../adapters/links/recent-visits.ts';
import type { VisitorHash } from '../../adapters/links/visitor-hash.ts';
import type { Link } from '../../core/link/link.ts';
import { each } from '../support/each.ts';
import { withMonotonicClock } from '../support/monotonic-clock.ts';
import { suite } from '../support/suite.ts';

const MINUTE_MS = 60_000;
const link = { key: 'a' } as Link;
const request = { headers: { 'user-agent': 'Mozilla/5.0 Firefox/140.0' } } as IncomingMessage;
const visitors = { hash: async (visitor: string) => visitor } as VisitorHash;

/** A visit: the minute, and the process that serves it. */
type Visit = readonly [minute: number, process: number];

/** Visits of one visitor, and the minutes at which a click is counted. */
const cases: Record<string, { visits: readonly Visit[]; counted: readonly number[]; isAvailable?: boolean }> = {
  'one process': {
    visits: [
      [0, 0],
      [59, 0],
      [60, 0],
      [119, 0],
      [120, 0],
    ],
    counted: [0, 60, 120],
  },
  'two processes': {
    visits: [
      [0, 0],
      [59, 1],
      [60, 1],
      [61, 0],
      [119, 0],
      [120, 0],
    ],
    counted: [0, 60, 120],
  },
  'two processes without shared visits': {
    visits: [
      [0, 0],
      [1, 0],
      [2, 1],
      [60, 0],
    ],
    counted: [0, 2, 60],
    isAvailable: false,
  },
};

suite('the click of a visitor on a link', {
  'counts again an hour after the last counted click': () =>
    each(cases, async ({ visits, counted, isAvailable = true }) => {
      const countedMinutes: number[] = [];
      let minute = 0;
      await withMonotonicClock(
        () => minute * MINUTE_MS,
        async () => {
          const shared = new RecentVisits();
          const addSharedVisit: AddSharedVisit = async (visit) => {
            if (!isAvailable) throw new Error('unavailable');
            return shared.add(visit);
          };
          const onClick = (result: ClickResult) => result === 'counted' && countedMinutes.push(minute);
          const recorders = [0, 1].map(() => new ClickRecorder({ add: () => true }, visitors, addSharedVisit, onClick));
          for (const [at, process] of visits) {
            minute = at;
            const recorder = recorders[process] as ClickRecorder;
            // Two simultaneous clicks count at most once.
            for (const _ of [1, 2]) recorder.record(request, link, () => '127.0.0.1');
            await recorder.settle();
          }
        },
      );
      assert.deepEqual(countedMinutes, counted);
    }),
});
