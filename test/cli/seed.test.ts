import assert from 'node:assert/strict';
import { CAMPAIGN_STATUSES, CAMPAIGN_WINDOWS } from '../../core/campaign/campaign.ts';
import { DESCRIPTION } from '../../core/shared/text.ts';
import { collected } from '../support/collected.ts';
import { answerOf, commandLine } from '../support/command-line.ts';
import { suite } from '../support/suite.ts';

/** A sample workspace, and what there is in it. */
async function seeded(...words: readonly string[]) {
  const line = commandLine();
  const seed = answerOf(await line.run(['seed', '--campaigns', '60', '--members', '12', '--json', ...words]));
  const { app } = line;
  const { workspaceId } = seed;
  return {
    ...line,
    seed,
    members: await collected(app.members.iterate(workspaceId)),
    campaigns: await collected(app.campaigns.iterate(workspaceId)),
    tags: await collected(app.tags.iterate(workspaceId)),
    groups: await collected(app.groups.iterate(workspaceId)),
  };
}

/** What of a sample is the same in each run: not its ids. */
function essence({ members, campaigns, tags, groups }: Awaited<ReturnType<typeof seeded>>) {
  return {
    members: members.map(({ name, email, role, seatType, groupIds }) => [name, email, role, seatType, groupIds.length]),
    campaigns: campaigns.map(
      ({ name, description, status, startDate, endDate, tagIds, targetShares, shares, clicks }) => {
        return [name, description, status, startDate, endDate, tagIds.length, targetShares, shares, clicks];
      },
    ),
    tags: tags.map(({ name, color }) => [name, color]),
    groups: groups.map(({ name, count }) => [name, count]),
  };
}

suite('a seed', {
  'makes what was asked for, with something for every list and filter': async () => {
    const { app, seed, members, campaigns, tags, groups } = await seeded();
    const { workspaceId, key, memberId, ...counts } = seed;
    assert.deepEqual([members.length, campaigns.length], [12, 60]);
    assert.deepEqual([counts.members, counts.campaigns], [12, 60]);
    for (const list of [tags, groups]) assert.ok(list.length > 5);
    assert.ok(groups.every(({ count }) => count >= 0) && groups.some(({ count }) => count > 1));
    for (const status of CAMPAIGN_STATUSES)
      assert.ok(
        campaigns.some((it) => it.status === status),
        status,
      );
    const lengths = campaigns.map(({ description }) => description.length);
    assert.ok(lengths.some((length) => length > 1000) && lengths.every((length) => length <= DESCRIPTION.max));
    const actor = { workspaceId };
    const page = { page: 1, pageSize: 25, includeArchived: false } as const;
    for (const filter of CAMPAIGN_WINDOWS) {
      const { items } = await app.campaigns.list(actor, { ...page, filter, sortBy: 'createdAt' });
      assert.ok(items.length > 0, filter);
    }
    const { items: questions } = await app.inspirationQuestions.list(actor, { ...page, availableToMe: false });
    const { items: pillars } = await app.contentPillars.list(workspaceId, {
      ...page,
      sortBy: 'title',
      sortOrder: 'asc',
    });
    const { items: domains } = await app.domains.list(workspaceId, page);
    assert.ok(questions.length > 3 && pillars.length > 3);
    assert.deepEqual([domains.length, domains[0]?.verified], [1, true]);
  },

  'gives a key of the admin, who is the first member': async () => {
    const { app, seed, members } = await seeded();
    const caller = await app.apiKeys.authenticate(seed.key);
    assert.deepEqual(caller.member, members[0]);
    assert.deepEqual([caller.member?.id, caller.member?.role], [seed.memberId, 'admin']);
  },

  'makes shares that agree with what the campaigns count': async () => {
    const { app, storage, seed, members, campaigns } = await seeded();
    const shares = await storage.shares.listById(seed.workspaceId, '', 9999);
    assert.equal(shares.length, seed.shares);
    assert.ok(shares.length > 30);
    for (const { id, shares: count, status, clicks } of campaigns) {
      assert.equal(shares.filter(({ campaignId }) => campaignId === id).length, count);
      if (status !== 'published') assert.deepEqual([count, clicks], [0, 0]);
    }
    const [share] = shares;
    const member = members.find(({ id }) => id === share?.memberId);
    const { hasShared } = await app.campaigns.get({ workspaceId: seed.workspaceId, member }, share?.campaignId ?? '');
    assert.equal(hasShared, true);
  },

  'is the same for the same number, and another for another': async () => {
    const first = essence(await seeded('--seed-number', '7'));
    assert.deepEqual(essence(await seeded('--seed-number', '7')), first);
    assert.notDeepEqual(essence(await seeded('--seed-number', '8')), first);
  },

  'can be made twice in one database': async () => {
    const { run } = await seeded();
    assert.equal((await run(['seed', '--campaigns', '1', '--members', '1'])).code, 0);
  },

  'is told to people with the key': async () => {
    const { code, stdout } = await commandLine().run(['seed', '--campaigns', '3', '--members', '2']);
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^The workspace Northwind \w+ \([0-9a-f-]{36}\) has 3 campaigns, 2 members and \d+ shares\.\n/,
    );
    assert.match(stdout, /shown this once, so keep it now:\n\n {2}adv_\w{38}\n\n$/);
  },

  'stops between two batches when it is interrupted, and says what it has made': async () => {
    const { run, storage, app } = commandLine();
    let interrupt = () => {};
    const addMany = storage.campaigns.addMany.bind(storage.campaigns);
    storage.campaigns.addMany = (records) => {
      interrupt();
      return addMany(records);
    };
    const given = { onInterrupt: (stop: () => void) => (interrupt = stop) };
    const { code, stdout } = await run(['seed', '--campaigns', '1200', '--members', '2', '--json'], given);
    const { workspaceId, campaigns, shares } = JSON.parse(stdout);
    assert.deepEqual([code, campaigns, shares], [130, 500, 0]);
    assert.equal((await collected(app.campaigns.iterate(workspaceId))).length, 500);
  },
});
