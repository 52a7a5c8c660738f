import assert from 'node:assert/strict';
import { newActivity } from '../../core/activity/activity.ts';
import { createCommandLine, parseJsonOutput } from '../support/command-line.ts';
import { DAY, NOON } from '../support/core.ts';
import { suite } from '../support/suite.ts';

const TERMINAL = { stdout: { isTTY: true } };
const RANGE = ['--from', '2026-01-28', '--to', '2026-01-31'];

async function createWithActivity() {
  const cli = createCommandLine();
  const { id: workspaceId } = await cli.app.workspaces.create('Northwind');
  const counts = [
    { shares: 1, clicks: 1000, rewards: '0.5' },
    { shares: 4, clicks: 499, rewards: '12' },
    { shares: 3, clicks: 1, rewards: '6' },
  ];
  const share = { id: 'share', workspaceId, campaignId: 'c', memberId: 'm' };
  const activity = counts.map((it, i) => newActivity(share, it, NOON - i * DAY));
  await cli.storage.activity.addCounts(workspaceId, activity);
  return cli;
}

/** Returns the last column of each row, after two spaces. */
const readBars = (stdout: string) =>
  stdout
    .split('\n')
    .slice(1, -1)
    .map((line) => /[^ ]*$/.exec(line)?.[0]);

suite('a table with bars', {
  'shows the sort field on a terminal, in proportion to the largest figure': async () => {
    const { run } = await createWithActivity();
    const { stdout } = await run(['analytics', ...RANGE], TERMINAL);
    assert.equal(
      stdout,
      [
        'KEY         NAME  SHARES  CLICKS  REWARDS',
        '2026-01-28        0       0       0',
        '2026-01-29        3       1       6        ▏',
        '2026-01-30        4       499     12       ██████████',
        '2026-01-31        1       1000    0.5      ████████████████████',
        '',
      ].join('\n'),
    );
    const byRewards = await run(['analytics', ...RANGE, '--sort-by', 'rewards'], TERMINAL);
    assert.deepEqual(readBars(byRewards.stdout), ['████████████████████', '██████████', '▉', '0']);
    const byKey = await run(['analytics', ...RANGE, '--sort-by', 'key', '--sort-order', 'desc'], TERMINAL);
    assert.deepEqual(readBars(byKey.stdout), ['████████████████████', '██████████', '▏', '0']);
    const allPages = await run(['analytics', ...RANGE, '--page-size', '2', '--all', '--sort-by', 'shares'], TERMINAL);
    assert.deepEqual(readBars(allPages.stdout), ['████████████████████', '███████████████', '█████', '0']);
  },

  'shows no bars as JSON, in a pipe, or without a figure': async () => {
    const { run } = await createWithActivity();
    const piped = await run(['analytics', ...RANGE]);
    const asJson = await run(['analytics', ...RANGE, '--json'], TERMINAL);
    const empty = await run(['analytics', '--from', '2026-01-01', '--to', '2026-01-02'], TERMINAL);
    for (const { stdout } of [piped, asJson, empty]) assert.doesNotMatch(stdout, /[█-▏]/u);
    assert.equal(parseJsonOutput(asJson).length, 4);
    const { code, stderr } = await run(['analytics', '--from', '2026-01-02', '--to', '2026-01-01']);
    assert.deepEqual([code, stderr], [2, 'error: --to: must not be before from, or more than 365 days after it\n']);
  },
});
