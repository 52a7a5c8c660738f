import assert from 'node:assert/strict';
import { createNodeSystem } from '../../adapters/node/system.ts';
import { createStorage } from '../../adapters/persistence/storage-engine.ts';
import { Application } from '../../core/application.ts';
import { buildCampaign, buildShare, newId } from '../contract/samples.ts';
import { addAll } from '../support/add-all.ts';
import { type MongodbProxy, withMongodbProxy } from '../support/mongodb-proxy.ts';
import { withApplication, withEngine } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createCampaignFields, createWorkspace } from '../support/tenants.ts';

const MEMBER_COUNT = 20;
const LINK_COUNT = 300;

/** Returns the number of commands that a call sends, by their names, without the commands of the driver itself. */
async function countCommands({ commandCounts }: MongodbProxy, call: () => Promise<unknown>) {
  commandCounts.clear();
  await call();
  for (const name of ['', 'hello', 'ping', 'endSessions']) commandCounts.delete(name);
  return Object.fromEntries(commandCounts);
}

suite('the transactions of the MongoDB storage', {
  'that share one campaign do not conflict within a process, and are all stored if there are two processes': () =>
    withMongodbProxy((proxy, uri) =>
      withApplication(proxy.uri, (app) =>
        withApplication(uri, async (otherApp) => {
          const { workspaceId, admin: member } = await createWorkspace(app);
          const create = (i: number) => app.members.create(workspaceId, { name: 'Kim', email: `kim${i}@x.example` });
          const members = await Promise.all(Array.from({ length: 2 * MEMBER_COUNT }, (_, i) => create(i)));
          const { id } = await app.campaigns.create({ workspaceId, member }, createCampaignFields());
          const shareAll = (sharers: typeof members) =>
            Promise.all(
              sharers.map((it, i) =>
                (i < MEMBER_COUNT ? app : otherApp).shares.create({ workspaceId, member: it }, id),
              ),
            );
          const commands = await countCommands(proxy, () => shareAll(members.slice(0, MEMBER_COUNT)));
          assert.equal(commands.commitTransaction, MEMBER_COUNT);
          assert.equal(commands.abortTransaction, undefined);
          await shareAll(members.slice(MEMBER_COUNT / 2));
          assert.equal((await app.campaigns.get({ workspaceId, member }, id)).shares, 2 * MEMBER_COUNT);
        }),
      ),
    ),

  'that share a campaign take a few commands, and fewer if the member has shared it already': () =>
    withMongodbProxy((proxy) =>
      withApplication(proxy.uri, async (app) => {
        const { workspaceId, admin: member } = await createWorkspace(app);
        const createCampaign = () => app.campaigns.create({ workspaceId, member }, createCampaignFields());
        const share = async (id: string) => (await app.shares.create({ workspaceId, member }, id)).isNew;
        const [{ id }, { id: otherId }] = [await createCampaign(), await createCampaign()];
        const commands = await countCommands(proxy, () => share(id));
        // Finds the share twice, the member and the campaign. Numbers the event. Changes the campaign, and adds the
        // event, the link, the share and its activity.
        assert.deepEqual(commands, { find: 4, findAndModify: 1, update: 5, commitTransaction: 1 });
        assert.deepEqual(await countCommands(proxy, () => share(id)), { find: 3, update: 1 });
        let results: boolean[] = [];
        const repeated = await countCommands(proxy, async () => {
          results = await Promise.all(Array.from({ length: MEMBER_COUNT }, () => share(otherId)));
        });
        assert.equal(results.filter((isNew) => isNew).length, 1);
        const { update = 0, commitTransaction, abortTransaction = 0 } = repeated;
        assert.equal(commitTransaction, 1);
        // Each of the others adds an event before it finds the share. Then it waits until the share is durable.
        assert.equal(update, 5 + abortTransaction + MEMBER_COUNT - 1);
      }),
    ),

  'that read before they change the same record run again before they have changed anything': () =>
    withMongodbProxy((proxy) =>
      withApplication(proxy.uri, async (app) => {
        const { workspaceId, admin: member } = await createWorkspace(app);
        const create = (i: number) => app.members.create(workspaceId, { name: 'Kim', email: `kim${i}@x.example` });
        const members = await Promise.all(Array.from({ length: MEMBER_COUNT }, (_, i) => create(i)));
        const createCampaign = () => app.campaigns.create({ workspaceId, member }, createCampaignFields());
        const campaigns = await Promise.all([createCampaign(), createCampaign()]);
        // Each transaction first looks for the share. Then it numbers the event of the workspace.
        const share = (sharer: (typeof members)[number], i: number) =>
          app.runOnce({ workspaceId, keyId: 'key', idempotencyKey: sharer.id, fingerprint: '' }, async ({ shares }) => {
            const { id } = campaigns[i % campaigns.length] as (typeof campaigns)[number];
            return { recordId: (await shares.create({ workspaceId, member: sharer }, id)).share.id };
          });
        const { update = 0 } = await countCommands(proxy, () => share(members[0] as (typeof members)[number], 0));
        const others = members.slice(1);
        const commands = await countCommands(proxy, () => Promise.all(others.map(share)));
        assert.equal(commands.commitTransaction, others.length);
        assert.equal(commands.update, others.length * update);
      }),
    ),

  'that store the clicks on many links take a few commands': () =>
    withMongodbProxy((proxy) =>
      withEngine(proxy.uri, async (engine) => {
        const workspaceId = newId();
        const links = Array.from({ length: LINK_COUNT }, () => {
          const [campaign, memberId] = [buildCampaign(workspaceId), newId()];
          const share = buildShare(workspaceId, { campaignId: campaign.id, memberId, clicks: 0 });
          return { campaign, share: { ...share, id: `${memberId}/${campaign.id}` } };
        });
        await addAll(
          engine.campaigns,
          links.map(({ campaign }) => campaign),
        );
        await addAll(
          engine.shares,
          links.map(({ share }) => share),
        );
        const { shares } = new Application(createStorage(engine), createNodeSystem());
        const clicks = links.map(({ share: { campaignId, memberId } }) => ({ campaignId, memberId, count: 1 }));
        const batch = { workspaceId, processId: newId(), sequence: 1, clicks };
        const commands = await countCommands(proxy, () => shares.addClicks(batch));
        assert.deepEqual(commands, { find: 7, update: 4, commitTransaction: 1 });
        for (const { campaign, share } of links) {
          assert.equal((await engine.campaigns.get(workspaceId, campaign.id))?.clicks, 1);
          assert.equal((await engine.shares.get(workspaceId, share.id))?.clicks, 1);
        }
      }),
    ),
});
