import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiKey } from '../../core/access/api-key.ts';
import type { Campaign } from '../../core/campaign/campaign.ts';
import { collected } from '../support/collected.ts';
import { each } from '../support/each.ts';
import { Ledger } from '../support/ledger.ts';
import { send, startLoad } from '../support/load.ts';
import { inDatabase } from '../support/mongod.ts';
import { type Loss, mongodbProxy } from '../support/mongodb-proxy.ts';
import { newWorkspace, onMongodb, withUseCases } from '../support/mongodb-service.ts';
import { startProcess, withProcess } from '../support/process.ts';
import { SharedCampaign } from '../support/recorder.ts';
import { startReplicaSet } from '../support/replica-set.ts';
import { campaignBody } from '../support/samples.ts';
import { isLong, scale } from '../support/scale.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';

const WRITERS = 16;
const KILLS = scale(1, 5);
const SHARES_OF_ONE = 200;
/** How long a key is held at the most by a service that was killed (core/idempotency). */
const HELD_MS = 30_000;
const ASKS_EVERY_MS = 250;

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

/** Where in a POST the process is killed: what is lost of the next command of a name, and whether its change is kept. */
interface Cut {
  readonly command: string;
  readonly what: Loss;
  readonly isKept: boolean;
}

/** Where nothing is kept, a repeat is refused for as long as the killed process may have held the key. */
const cuts: Readonly<Record<string, Cut>> = {
  'the answer to the commit': { command: 'commitTransaction', what: 'answer', isKept: true },
  ...(isLong && {
    'the commit': { command: 'commitTransaction', what: 'request', isKept: false },
    'the second write of the transaction': { command: 'update', what: 'request', isKept: false },
    'the answer to the second write': { command: 'update', what: 'answer', isKept: false },
    'the answer that the key is held': { command: 'insert', what: 'answer', isKept: false },
  }),
};

suite('a service that is killed in the middle of a POST with an Idempotency-Key', {
  'has done it once when another process is asked again, within 30 seconds': async () => {
    const set = await startReplicaSet();
    try {
      const outcomes = Object.entries(cuts).map(
        ([name, cut], i) => [name, askAround(inDatabase(set.uri, `cut-${i}`), cut)] as const,
      );
      await Promise.allSettled(outcomes.map(([, outcome]) => outcome));
      await each(outcomes, (outcome) => outcome);
    } finally {
      await set.stop();
    }
  },
});

/** Asks a process that is killed meanwhile, and then another one until that has the answer. */
async function askAround(uri: string, { command, what, isKept }: Cut): Promise<void> {
  const proxy = await mongodbProxy(uri);
  const killed = await startProcess(onMongodb(proxy.uri));
  try {
    await withUseCases(uri, async (app) => {
      const { workspaceId, key } = await newWorkspace(app);
      const stored = () => collected<Campaign>(app.campaigns.iterate(workspaceId));
      const post = (url: string) =>
        send(url, {
          method: 'POST',
          path: '/campaigns',
          key,
          body: campaignBody,
          headers: { 'Idempotency-Key': 'once' },
        });
      // The first use of a key is recorded in the background, with commands of its own.
      assert.equal((await send(killed.url, { path: '/campaigns', key })).status, 200);
      await until(async () => (await collected<ApiKey>(app.apiKeys.iterate(workspaceId)))[0]?.lastUsedAt !== null);
      proxy.lose(command, what, 1, () => {
        killed.child.kill('SIGKILL');
        return killed.ended();
      });
      assert.equal((await post(killed.url)).status, 0);
      assert.equal(proxy.toLose, 0);
      const killedAt = performance.now();
      assert.equal((await stored()).length, isKept ? 1 : 0);

      await withProcess(onMongodb(uri), async ({ url }) => {
        let answer = await post(url);
        for (; answer.status === 409; answer = await post(url)) {
          assert.ok(!isKept, 'it was refused although it is kept');
          assert.match(answer.text, /A request with this Idempotency-Key is being served/);
          assert.ok(answer.at - killedAt < HELD_MS, `refused ${answer.at - killedAt} ms afterwards`);
          await delay(ASKS_EVERY_MS);
        }
        assert.equal(answer.status, 201, answer.text);
        assert.equal(answer.headers['idempotency-replayed'], isKept ? 'true' : undefined);
        const again = await post(url);
        assert.deepEqual([again.status, again.text], [201, answer.text]);
        assert.deepEqual(
          (await stored()).map(({ id }) => id),
          [JSON.parse(answer.text).id],
        );
      });
    });
  } finally {
    killed.child.kill('SIGKILL');
    await killed.ended();
    await proxy.close();
  }
}

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
