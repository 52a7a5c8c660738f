import assert from 'node:assert/strict';
import type { Application } from '../../core/application.ts';
import { collectAll } from '../support/collect-all.ts';
import { DAY, OTHER, OWN, type TestCore, testCore } from '../support/core.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';
import { campaignBody } from '../support/tenants.ts';

interface Listed {
  /** Makes a record of a name. */
  make(core: TestCore, workspaceId: string, name: string): Promise<unknown>;
  all(app: Application, workspaceId: string): AsyncIterable<unknown>;
}

const lists: Readonly<Record<string, Listed>> = {
  'API keys': {
    make: async ({ app }, workspaceId, label) => (await app.apiKeys.create(workspaceId, { label })).apiKey,
    all: (app, workspaceId) => app.apiKeys.iterate(workspaceId),
  },
  campaigns: {
    make: ({ app }, workspaceId, name) => app.campaigns.create({ workspaceId }, campaignBody(name)),
    all: (app, workspaceId) => app.campaigns.iterate(workspaceId),
  },
  'content pillars': {
    make: async ({ app, storage }, workspaceId, title) => {
      const [author] = await storage.members.listById(workspaceId, '', 1);
      const { id: authorId } =
        author ?? (await app.members.create(workspaceId, { name: 'Ada', email: 'ada@x.example' }));
      return app.contentPillars.create(workspaceId, { authorId, title, color: 'red' });
    },
    all: (app, workspaceId) => app.contentPillars.iterate(workspaceId),
  },
  groups: {
    make: ({ app }, workspaceId, name) => app.groups.create(workspaceId, { name }),
    all: (app, workspaceId) => app.groups.iterate(workspaceId),
  },
  members: {
    make: ({ app }, workspaceId, name) => app.members.create(workspaceId, { name, email: 'ada@x.example' }),
    all: (app, workspaceId) => app.members.iterate(workspaceId),
  },
  tags: {
    make: ({ app }, workspaceId, name) => app.tags.create(workspaceId, name),
    all: (app, workspaceId) => app.tags.iterate(workspaceId),
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
      assert.deepEqual(await collectAll(all(core.app, OWN)), made);
    }),

  'has archived domains and campaigns too, and the one primary domain': async () => {
    const { app } = testCore();
    const slugs = [];
    for (const [slug, archived] of [
      ['a.example', true],
      ['b.example', false],
      ['c.example', false],
    ] as const) {
      await app.domains.createOrArchive(OWN, { slug, archived });
    }
    for await (const { slug, archived, primary } of app.domains.iterate(OWN)) slugs.push([slug, archived, primary]);
    assert.deepEqual(slugs, [
      ['a.example', true, false],
      ['b.example', false, true],
      ['c.example', false, false],
    ]);
    const campaign = await app.campaigns.create({ workspaceId: OWN }, { ...campaignBody(), status: 'archived' });
    assert.deepEqual(await collectAll(app.campaigns.iterate(OWN)), [campaign]);
  },

  'has its groups with the number of their members': async () => {
    const { app } = testCore();
    const ids = [];
    for (const name of ['Sales', 'Marketing']) ids.push((await app.groups.create(OWN, { name })).id);
    for (const groupIds of [ids, ids.slice(0, 1)]) {
      await app.members.create(OWN, { name: 'Ada', email: 'ada@x.example', groupIds });
    }
    const counts = [];
    for await (const { name, count } of app.groups.iterate(OWN)) counts.push([name, count]);
    assert.deepEqual(counts, [
      ['Sales', 2],
      ['Marketing', 1],
    ]);
  },
});
