import assert from 'node:assert/strict';
import type { Application } from '../../core/application.ts';
import { collected } from '../support/collected.ts';
import { DAY, OTHER, OWN, type TestCore, testCore } from '../support/core.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';
import { campaignBody } from '../support/tenants.ts';

interface Listed {
  /** Makes a record of a name. */
  make(core: TestCore, workspaceId: string, name: string): Promise<unknown>;
  all(use: Application, workspaceId: string): AsyncIterable<unknown>;
}

const lists: Readonly<Record<string, Listed>> = {
  'API keys': {
    make: async ({ use }, workspaceId, label) => (await use.apiKeys.create(workspaceId, { label })).apiKey,
    all: (use, workspaceId) => use.apiKeys.all(workspaceId),
  },
  campaigns: {
    make: ({ use }, workspaceId, name) => use.campaigns.create({ workspaceId }, campaignBody(name)),
    all: (use, workspaceId) => use.campaigns.all(workspaceId),
  },
  'content pillars': {
    make: async ({ use, storage }, workspaceId, title) => {
      const [author] = await storage.members.listById(workspaceId, '', 1);
      const { id: authorId } =
        author ?? (await use.members.create(workspaceId, { name: 'Ada', email: 'ada@x.example' }));
      return use.contentPillars.create(workspaceId, { authorId, title, color: 'red' });
    },
    all: (use, workspaceId) => use.contentPillars.all(workspaceId),
  },
  groups: {
    make: ({ use }, workspaceId, name) => use.groups.create(workspaceId, { name }),
    all: (use, workspaceId) => use.groups.all(workspaceId),
  },
  members: {
    make: ({ use }, workspaceId, name) => use.members.create(workspaceId, { name, email: 'ada@x.example' }),
    all: (use, workspaceId) => use.members.all(workspaceId),
  },
  tags: {
    make: ({ use }, workspaceId, name) => use.tags.create(workspaceId, name),
    all: (use, workspaceId) => use.tags.all(workspaceId),
  },
};

suite('all that a workspace has', {
  'is told in the order of its making, and nothing of another': () =>
    each(lists, async ({ make, all }) => {
      const core = testCore();
      const made = [];
      for (const name of ['zeta', 'alpha', 'mu']) {
        made.push(await make(core, OWN, name));
        await make(core, OTHER, name);
        core.clock.now += DAY;
      }
      assert.deepEqual(await collected(all(core.use, OWN)), made);
    }),

  'has archived domains and campaigns too, and the one primary domain': async () => {
    const { use } = testCore();
    const slugs = [];
    for (const [slug, archived] of [
      ['a.example', true],
      ['b.example', false],
      ['c.example', false],
    ] as const) {
      await use.domains.createOrArchive(OWN, { slug, archived });
    }
    for await (const { slug, archived, primary } of use.domains.all(OWN)) slugs.push([slug, archived, primary]);
    assert.deepEqual(slugs, [
      ['a.example', true, false],
      ['b.example', false, true],
      ['c.example', false, false],
    ]);
    const campaign = await use.campaigns.create({ workspaceId: OWN }, { ...campaignBody(), status: 'archived' });
    assert.deepEqual(await collected(use.campaigns.all(OWN)), [campaign]);
  },

  'has its groups with the number of their members': async () => {
    const { use } = testCore();
    const ids = [];
    for (const name of ['Sales', 'Marketing']) ids.push((await use.groups.create(OWN, { name })).id);
    for (const groupIds of [ids, ids.slice(0, 1)]) {
      await use.members.create(OWN, { name: 'Ada', email: 'ada@x.example', groupIds });
    }
    const counts = [];
    for await (const { name, count } of use.groups.all(OWN)) counts.push([name, count]);
    assert.deepEqual(counts, [
      ['Sales', 2],
      ['Marketing', 1],
    ]);
  },
});
