import assert from 'node:assert/strict';
import type { Application } from '../../core/application.ts';
import { collectAll } from '../support/collect-all.ts';
import { DAY, OTHER, OWN, type TestCore, testCore } from '../support/core.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';
import { createCampaignBody } from '../support/tenants.ts';

interface Resource {
  /** Creates a record with a name. */
  create(core: TestCore, workspaceId: string, name: string): Promise<unknown>;
  iterate(app: Application, workspaceId: string): AsyncIterable<unknown>;
}

const resources: Readonly<Record<string, Resource>> = {
  'API keys': {
    create: async ({ app }, workspaceId, label) => (await app.apiKeys.create(workspaceId, { label })).apiKey,
    iterate: (app, workspaceId) => app.apiKeys.iterate(workspaceId),
  },
  campaigns: {
    create: ({ app }, workspaceId, name) => app.campaigns.create({ workspaceId }, createCampaignBody(name)),
    iterate: (app, workspaceId) => app.campaigns.iterate(workspaceId),
  },
  'content pillars': {
    create: async ({ app, engine }, workspaceId, title) => {
      const [author] = await engine.members.listById(workspaceId, '', 1);
      const { id: authorId } =
        author ?? (await app.members.create(workspaceId, { name: 'Ada', email: 'ada@x.example' }));
      return app.contentPillars.create(workspaceId, { authorId, title, color: 'red' });
    },
    iterate: (app, workspaceId) => app.contentPillars.iterate(workspaceId),
  },
  groups: {
    create: ({ app }, workspaceId, name) => app.groups.create(workspaceId, { name }),
    iterate: (app, workspaceId) => app.groups.iterate(workspaceId),
  },
  members: {
    create: ({ app }, workspaceId, name) => app.members.create(workspaceId, { name, email: 'ada@x.example' }),
    iterate: (app, workspaceId) => app.members.iterate(workspaceId),
  },
  tags: {
    create: ({ app }, workspaceId, name) => app.tags.create(workspaceId, name),
    iterate: (app, workspaceId) => app.tags.iterate(workspaceId),
  },
};

suite('the iteration over all records of a workspace', {
  'returns the records in creation order, without records of another workspace': () =>
    each(resources, async ({ create, iterate }) => {
      const core = testCore();
      const created = [];
      for (const name of ['zeta', 'alpha', 'mu']) {
        created.push(await create(core, OWN, name));
        await create(core, OTHER, name);
        core.clock.now += DAY;
      }
      assert.deepEqual(await collectAll(iterate(core.app, OWN)), created);
    }),

  'includes archived domains and campaigns, and marks the primary domain': async () => {
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
    const campaign = await app.campaigns.create({ workspaceId: OWN }, { ...createCampaignBody(), status: 'archived' });
    assert.deepEqual(await collectAll(app.campaigns.iterate(OWN)), [campaign]);
  },

  'returns groups with the number of their members': async () => {
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
