import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { assertFailure, Ledger } from '../support/ledger.ts';
import { longestGap, startLoad } from '../support/load.ts';
import { inDatabase } from '../support/mongod.ts';
import { newWorkspace, onMongodb, withUseCases } from '../support/mongodb-service.ts';
import { withProcess } from '../support/process.ts';
import { SharedCampaign } from '../support/recorder.ts';
import { startReplicaSet } from '../support/replica-set.ts';
import { scale } from '../support/scale.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';

const WRITERS = scale(8, 32);
const KILLS = scale(1, 3);
const SHARES = scale(100, 400);
const BETWEEN_MS = scale(500, 4_000);
const MOST_ERRORS = scale(0.1, 0.01);
/** A quick run may be one of many things that the machine does. */
const LONGEST_GAP_MS = scale(30_000, 10_000);

suite('a replica set of three whose primary is killed while many write', {
  'loses and doubles nothing that was acknowledged, fails next to nothing, and is written to again in time':
    async () => {
      const set = await startReplicaSet(3);
      try {
        const uri = inDatabase(set.uri, 'advocacy');
        const { workspaceId, key } = await withUseCases(uri, newWorkspace);
        const shared = await SharedCampaign.create(uri, workspaceId, SHARES);
        await withProcess(onMongodb(uri), async ({ url }) => {
          const ledger = new Ledger(() => url, key);
          const load = startLoad(WRITERS, (client, i) => ledger.write(client, i));
          shared.start(SHARES);
          for (let kill = 0; kill < KILLS; kill++) {
            await delay(BETWEEN_MS);
            const primary = await set.primary();
            const { size } = ledger;
            await primary.kill();
            await until(() => ledger.size > size + 2 * WRITERS);
            await primary.start();
            await set.healthy();
          }
          await delay(BETWEEN_MS);
          await load.end();
          await shared.ended();

          // What is sent again under its key may find that it is still being served.
          const failures = load.sent.filter(({ status }) => status !== 201 && status !== 409);
          for (const failure of failures) assertFailure(failure);
          const told = `${failures.length} of ${load.sent.length} failed`;
          assert.ok(failures.length <= load.sent.length * MOST_ERRORS, told);
          const gap = longestGap(load.sent);
          assert.ok(gap <= LONGEST_GAP_MS, `${gap} ms without a success`);
          await ledger.check(uri, workspaceId);
          await shared.check();
        });
      } finally {
        await set.stop();
      }
    },
});
