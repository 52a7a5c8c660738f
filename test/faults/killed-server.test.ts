import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { Ledger } from '../support/ledger.ts';
import { startLoad } from '../support/load.ts';
import { inDatabase } from '../support/mongod.ts';
import { newWorkspace, onMongodb, withUseCases } from '../support/mongodb-service.ts';
import { startProcess } from '../support/process.ts';
import { SharedCampaign } from '../support/recorder.ts';
import { startReplicaSet } from '../support/replica-set.ts';
import { scale } from '../support/scale.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';

const WRITERS = 16;
const KILLS = scale(1, 5);
const SHARES_OF_ONE = 200;
/** How long a key is held at the most by a service that was killed (core/idempotency). */
const HELD_MS = 30_000;

suite('a service that is killed while it writes', {
  'has kept all that it acknowledged, nothing twice, and does once what is sent again under its key': async () => {
    const set = await startReplicaSet();
    const uri = inDatabase(set.uri, 'advocacy');
    let service = await startProcess(onMongodb(uri));
    try {
      const { workspaceId, key } = await withUseCases(uri, newWorkspace);
      const ledger = new Ledger(() => service.url, key);
      const load = startLoad(WRITERS, (client, i) => ledger.write(client, i));
      for (let kill = 0; kill < KILLS; kill++) {
        const { size } = ledger;
        await until(() => ledger.size > size + 5 * WRITERS);
        service.child.kill('SIGKILL');
        await service.ended();
        service = await startProcess(onMongodb(uri));
      }
      await delay(scale(1_000, HELD_MS));
      const { size } = ledger;
      await until(() => ledger.size > size + 5 * WRITERS);
      await load.end();

      const cut = load.sent.filter(({ status }) => status === 0).length;
      assert.ok(cut >= KILLS, `${cut} requests were cut`);
      const others = load.sent.map(({ status }) => status).filter((status) => ![0, 201, 409].includes(status));
      assert.deepEqual(others, []);
      await ledger.check(uri, workspaceId);
      if (KILLS > 1) assert.deepEqual(ledger.unacknowledged, []);
    } finally {
      service.child.kill('SIGKILL');
      await service.ended();
      await set.stop();
    }
  },
});

suite('a process that is killed while it records shares', {
  'leaves a counter that agrees with the shares, and all that it acknowledged': async () => {
    const set = await startReplicaSet();
    const uri = inDatabase(set.uri, 'advocacy');
    try {
      const { workspaceId } = await withUseCases(uri, newWorkspace);
      const shared = await SharedCampaign.create(uri, workspaceId, SHARES_OF_ONE * KILLS);
      for (let kill = 0; kill < KILLS; kill++) {
        const { recorded } = shared;
        shared.start(SHARES_OF_ONE);
        await until(() => shared.recorded > recorded + SHARES_OF_ONE / 10);
        await shared.kill();
        assert.ok(shared.recorded < recorded + SHARES_OF_ONE, 'it was killed before its end');
        await shared.check();
      }
    } finally {
      await set.stop();
    }
  },
});
