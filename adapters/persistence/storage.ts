import type { Storage } from '../../core/storage.ts';
import { createApiKeyRepository } from './api-keys.ts';
import { createCampaignRepository } from './campaigns.ts';
import { createClickWriterRepository } from './click-writers.ts';
import { createContentPillarRepository } from './content-pillars.ts';
import { createDomainRepository } from './domains.ts';
import { createGroupRepository } from './groups.ts';
import { createIdempotencyRepository } from './idempotency-records.ts';
import { createInspirationQuestionRepository } from './inspiration-questions.ts';
import { createLinkRepository, createVisitorKeyRepository } from './links.ts';
import { createMemberRepository } from './members.ts';
import { createShareRepository } from './shares.ts';
import type { StorageEngine } from './storage-engine.ts';
import { createTagRepository } from './tags.ts';
import { createWorkspaceRepository } from './workspaces.ts';

/** Creates the storage of the core on a storage engine. */
export function createStorage(engine: StorageEngine): Storage {
  return {
    apiKeys: createApiKeyRepository(engine.apiKeys, engine.credentials),
    campaigns: createCampaignRepository(engine.campaigns),
    clickWriters: createClickWriterRepository(engine.clickWriters),
    contentPillars: createContentPillarRepository(engine.contentPillars),
    domains: createDomainRepository(engine.domains, engine.verifiedSlugs),
    groups: createGroupRepository(engine.groups),
    idempotencyRecords: createIdempotencyRepository(engine.idempotentRequests),
    inspirationQuestions: createInspirationQuestionRepository(engine.inspirationQuestions),
    links: createLinkRepository(engine.links),
    members: createMemberRepository(engine.members),
    shares: createShareRepository(engine.shares),
    tags: createTagRepository(engine.tags),
    visitorKeys: createVisitorKeyRepository(engine.visitorKeys),
    workspaces: createWorkspaceRepository(engine.workspaces),
    runInTransaction: (work) => engine.runInTransaction((transaction) => work(createStorage(transaction))),
    now: () => engine.now(),
    checkReady: () => engine.checkReady(),
  };
}
