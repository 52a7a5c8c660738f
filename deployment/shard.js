// Shards the collections of the database `advocacy`. mongosh runs this script, connected to mongos. docs/operating.md
// explains when to do this.
sh.enableSharding('advocacy');

// The records of a workspace are stored together. A workspace with very many records is split.
sh.shardCollection('advocacy.activity', { workspaceId: 1, _id: 1 });
sh.shardCollection('advocacy.apiKeyOwners', { workspaceId: 1, _id: 1 });
sh.shardCollection('advocacy.apiKeys', { workspaceId: 1, _id: 1 });
sh.shardCollection('advocacy.campaigns', { workspaceId: 1, _id: 1 });
sh.shardCollection('advocacy.clickCheckpoints', { workspaceId: 1, _id: 1 });
sh.shardCollection('advocacy.contentPillars', { workspaceId: 1, _id: 1 });
sh.shardCollection('advocacy.eventCounters', { workspaceId: 1, _id: 1 });
sh.shardCollection('advocacy.events', { workspaceId: 1, _id: 1 });
sh.shardCollection('advocacy.idempotencyRecords', { workspaceId: 1, _id: 1 });
sh.shardCollection('advocacy.inspirationQuestions', { workspaceId: 1, _id: 1 });
sh.shardCollection('advocacy.shares', { workspaceId: 1, _id: 1 });
sh.shardCollection('advocacy.webhooks', { workspaceId: 1, _id: 1 });

// These collections have a unique index, which must begin with the shard key.
sh.shardCollection('advocacy.domains', { workspaceId: 1 });
sh.shardCollection('advocacy.groups', { workspaceId: 1 });
sh.shardCollection('advocacy.members', { workspaceId: 1 });
sh.shardCollection('advocacy.tags', { workspaceId: 1 });

// These records are found by ID, before their workspace is known.
const database = db.getSiblingDB('advocacy');
for (const name of ['credentials', 'links', 'verifiedSlugs', 'visitorKeys', 'webhookWorkspaces', 'workspaces']) {
  database[name].createIndex({ _id: 'hashed' });
}
sh.shardCollection('advocacy.credentials', { _id: 'hashed' });
sh.shardCollection('advocacy.links', { _id: 'hashed' });
sh.shardCollection('advocacy.verifiedSlugs', { _id: 'hashed' });
sh.shardCollection('advocacy.visitorKeys', { _id: 'hashed' });
sh.shardCollection('advocacy.webhookWorkspaces', { _id: 'hashed' });
sh.shardCollection('advocacy.workspaces', { _id: 'hashed' });
