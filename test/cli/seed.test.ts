import assert from 'node:assert/strict';
import { CAMPAIGN_DATE_FILTERS, CAMPAIGN_STATUSES } from '../../core/campaign/campaign.ts';
import { DESCRIPTION_LENGTH } from '../../core/shared/text.ts';
import { collectAll } from '../support/collect-all.ts';
import { assertExitCode, createCommandLine, parseJsonOutput } from '../support/command-line.ts';
import { suite } from '../support/suite.ts';

/** Creates a sample workspace and reads its records. */
async function runSeed(...args: readonly string[]) {
  const cli = createCommandLine();
  const seed = parseJsonOutput(await cli.run(['seed', '--campaigns', '60', '--members', '12', '--json', ...args]));
  const { app } = cli;
  const { workspaceId } = seed;
  return {
    ...cli,
    seed,
    members: await collectAll(app.members.iterate(workspaceId)),
    campaigns: await collectAll(app.campaigns.iterate(workspaceId)),
    tags: await collectAll(app.tags.iterate(workspaceId)),
    groups: await collectAll(app.groups.iterate(workspaceId)),
  };
}

/** Returns fields of a sample that are the same in each run with the same seed number. */
function pickReproducibleFields({ members, campaigns, tags, groups }: Awaited<ReturnType<typeof runSeed>>) {
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
  'creates the requested records: some in every list, in every status, and for every date filter': async () => {
    const { app, seed, members, campaigns, tags, groups } = await runSeed();
    const { workspaceId, key, memberId, ...counts } = seed;
    assert.deepEqual([members.length, campaigns.length], [12, 60]);
    assert.deepEqual([counts.members, counts.campaigns], [12, 60]);
    for (const list of [tags, groups]) assert.ok(list.length > 5);
    assert.ok(groups.every(({ count }) => count >= 0) && groups.some(({ count }) => count > 1));
    for (const status of CAMPAIGN_STATUSES)
      assert.ok(
        campaigns.some((campaign) => campaign.status === status),
        status,
      );
    const lengths = campaigns.map(({ description }) => description.length);
    assert.ok(lengths.some((length) => length > 1000) && lengths.every((length) => length <= DESCRIPTION_LENGTH.max));
    const actor = { workspaceId };
    const page = { page: 1, pageSize: 25, includeArchived: false } as const;
    for (const filter of CAMPAIGN_DATE_FILTERS) {
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

  'prints a key of the admin, who is the first member': async () => {
    const { app, seed, members } = await runSeed();
    const caller = await app.apiKeys.authenticate(seed.key);
    assert.deepEqual(caller.member, members[0]);
    assert.deepEqual([caller.member?.id, caller.member?.role], [seed.memberId, 'admin']);
  },

  'creates shares that match the counters of the campaigns': async () => {
    const { app, engine, seed, members, campaigns } = await runSeed();
    const shares = await engine.shares.listById(seed.workspaceId, '', 9999);
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

  'creates the same records for the same seed number, and different records for another seed number': async () => {
    const first = pickReproducibleFields(await runSeed('--seed-number', '7'));
    assert.deepEqual(pickReproducibleFields(await runSeed('--seed-number', '7')), first);
    assert.notDeepEqual(pickReproducibleFields(await runSeed('--seed-number', '8')), first);
  },

  'prints a sentence and the key without --json': async () => {
    const output = await createCommandLine().run(['seed', '--campaigns', '3', '--members', '2']);
    assertExitCode(output, 0);
    assert.match(
      output.stdout,
      /^The workspace Northwind \w+ \([0-9a-f-]{36}\) has 3 campaigns, 2 members and \d+ shares\.\n/,
    );
    assert.match(
      output.stdout,
      /Store the API key of its admin now, because it is shown only once:\n\n {2}adv_\w{38}\n\n$/,
    );
  },

  'stops between two batches when it is interrupted, and reports the created records': async () => {
    const { run, engine, app } = createCommandLine();
    let interrupt = () => {};
    const addMany = engine.campaigns.addMany.bind(engine.campaigns);
    engine.campaigns.addMany = (records) => {
      interrupt();
      return addMany(records);
    };
    const options = { onInterrupt: (stop: () => void) => (interrupt = stop) };
    const output = await run(['seed', '--campaigns', '1200', '--members', '2', '--json'], options);
    assertExitCode(output, 130);
    const { workspaceId, campaigns, shares } = JSON.parse(output.stdout);
    assert.deepEqual([campaigns, shares], [500, 0]);
    assert.equal((await collectAll(app.campaigns.iterate(workspaceId))).length, 500);
  },
});
