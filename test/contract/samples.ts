import { randomUUID } from 'node:crypto';
import { type ActivityRecord, activitySchema } from '../../adapters/persistence/activities.ts';
import { type ApiKeyRecord, apiKeySchema } from '../../adapters/persistence/api-keys.ts';
import { type CampaignRecord, campaignSchema } from '../../adapters/persistence/campaigns.ts';
import { type ContentPillarRecord, contentPillarSchema } from '../../adapters/persistence/content-pillars.ts';
import { type DomainRecord, domainSchema } from '../../adapters/persistence/domains.ts';
import type { EventCounter } from '../../adapters/persistence/events.ts';
import { type GroupRecord, groupSchema } from '../../adapters/persistence/groups.ts';
import {
  type InspirationQuestionRecord,
  inspirationQuestionSchema,
} from '../../adapters/persistence/inspiration-questions.ts';
import { type MemberRecord, memberSchema } from '../../adapters/persistence/members.ts';
import type { recordSchemas } from '../../adapters/persistence/storage-engine.ts';
import { type TagRecord, tagSchema } from '../../adapters/persistence/tags.ts';
import { newApiKey } from '../../core/access/api-key.ts';
import { newActivity } from '../../core/activity/activity.ts';
import { newCampaign } from '../../core/campaign/campaign.ts';
import { newContentPillar } from '../../core/content-pillar/content-pillar.ts';
import { newDomain } from '../../core/domain/domain.ts';
import type { Event } from '../../core/event/event.ts';
import { newGroup } from '../../core/group/group.ts';
import type { IdempotencyRecord } from '../../core/idempotency/idempotency.ts';
import { newInspirationQuestion } from '../../core/inspiration-question/inspiration-question.ts';
import { newMember } from '../../core/member/member.ts';
import type { ClickCheckpoint } from '../../core/share/click-checkpoint.ts';
import { createShareId, type Share } from '../../core/share/share.ts';
import type { Entity } from '../../core/shared/entity.ts';
import { newTag } from '../../core/tag/tag.ts';
import { newWebhook, type Webhook } from '../../core/webhook/webhook.ts';
import { createCampaignFields } from '../support/tenants.ts';

const START = Date.parse('2026-03-01T12:00:00.000Z');
const RESPONSE = { status: 201, body: '{"id":"1"}' };
const FAR_FUTURE = Date.parse('2100-01-01T00:00:00.000Z');

const prefix = randomUUID().slice(0, 8);
let idCount = 0;

/** Returns an ID that no other record of any storage has. It is greater than all previous IDs. */
export function newId(): string {
  const digits = (++idCount).toString(16).padStart(12, '0');
  return `${prefix}-0000-7000-8000-${digits}`;
}

// The samples are new entities as the core creates them, so that a new field of an entity needs no change here. Values
// that storages could change are set.

export function buildCampaign(workspaceId: string, fields: Partial<CampaignRecord> = {}): CampaignRecord {
  const campaign = newCampaign(workspaceId, newId(), newId(), createCampaignFields('Summer'), START);
  return {
    ...campaignSchema.toRecord(campaign),
    description: 'Tents & more: $5.00 off {"all"}',
    destinationUrl: null,
    startsAt: 1000,
    endsAt: 2000,
    shareRewardAmount: '0.0001',
    clickRewardAmount: '999999999999.9999',
    domain: 'go.example.com',
    tagIds: [newId(), newId()],
    resources: [
      { url: 'https://example.com/a.png', type: 'image', size: 0.5, width: 640 },
      { url: 'https://example.com/b', language: '' },
    ],
    targetShares: Number.MAX_SAFE_INTEGER,
    searchText: 'summerςtents & more',
    ...fields,
  };
}

export function buildQuestion(
  workspaceId: string,
  fields: Partial<InspirationQuestionRecord> = {},
): InspirationQuestionRecord {
  const question = 'Which story made you proud? 🏆';
  const sample = { question, description: 'line one\nline two', icon: 'trophy' } as const;
  return {
    ...inspirationQuestionSchema.toRecord(newInspirationQuestion(workspaceId, newId(), sample, START)),
    ...fields,
  };
}

export function buildPillar(workspaceId: string, fields: Partial<ContentPillarRecord> = {}): ContentPillarRecord {
  const sample = { title: 'Life outdoors', color: 'green' } as const;
  return { ...contentPillarSchema.toRecord(newContentPillar(workspaceId, newId(), newId(), sample, START)), ...fields };
}

export function buildTag(workspaceId: string, name: string, fields: Partial<TagRecord> = {}): TagRecord {
  return { ...tagSchema.toRecord(newTag(workspaceId, newId(), { name }, 'red', START)), ...fields };
}

export function buildGroup(workspaceId: string, name: string): GroupRecord {
  return groupSchema.toRecord(newGroup(workspaceId, newId(), { name }, START));
}

export function buildDomain(workspaceId: string, slug: string): DomainRecord {
  return domainSchema.toRecord(newDomain(workspaceId, newId(), { slug }, START));
}

export function buildIdempotencyRecord(
  workspaceId: string,
  fields: Partial<IdempotencyRecord> = {},
): IdempotencyRecord {
  return {
    id: `${newId()}/a key of "any" $characters`,
    workspaceId,
    fingerprint: 'f',
    lockOwner: newId(),
    response: RESPONSE,
    expiresAt: FAR_FUTURE,
    ...fields,
  };
}

function createApiKey(workspaceId: string): ApiKeyRecord {
  return apiKeySchema.toRecord(newApiKey(workspaceId, newId(), { secret: 'a secret, abcd' }, newId, START));
}

export function buildMember(workspaceId: string, email: string, fields: Partial<MemberRecord> = {}): MemberRecord {
  const sample = { name: 'Ada', email, role: 'admin', groups: [newId()] } as const;
  return { ...memberSchema.toRecord(newMember(workspaceId, newId(), sample, START)), ...fields };
}

export function buildClickCheckpoint(workspaceId: string): ClickCheckpoint {
  return { id: newId(), workspaceId, sequence: 1, expiresAt: FAR_FUTURE };
}

export function buildEvent(workspaceId: string, fields: Partial<Event> = {}): Event {
  return {
    id: newId(),
    workspaceId,
    sequence: 1,
    type: 'campaign.published',
    createdAt: new Date(START).toISOString(),
    data: { campaignId: newId() },
    expiresAt: FAR_FUTURE,
    ...fields,
  };
}

function buildEventCounter(workspaceId: string): EventCounter {
  return { id: newId(), workspaceId, sequence: 1 };
}

export function buildShare(workspaceId: string, fields: Partial<Share> = {}): Share {
  const { memberId = newId(), campaignId = newId() } = fields;
  const id = createShareId(memberId, campaignId);
  return {
    id,
    workspaceId,
    memberId,
    campaignId,
    position: 1,
    linkKey: 'a1B2c3D4',
    clicks: 0,
    rewards: '0',
    createdAt: new Date(START).toISOString(),
    ...fields,
  };
}

export function buildActivity(workspaceId: string, fields: Partial<ActivityRecord> = {}): ActivityRecord {
  const share = buildShare(workspaceId);
  const counts = { shares: 1, clicks: 2, rewards: '999999999999.9999' };
  return { ...activitySchema.toRecord(newActivity(share, counts, START)), ...fields };
}

function buildWebhook(workspaceId: string): Webhook {
  const sample = { url: 'https://example.com/?a=b', types: ['share.created'] } as const;
  const webhook = newWebhook(workspaceId, newId(), sample, 'whsec_secret', 1, START);
  return { ...webhook, lease: { owner: newId(), expiresAt: FAR_FUTURE } };
}

export type SchemaName = keyof typeof recordSchemas;

/** Functions that create a sample record, by the name of its schema. */
export const samples: Readonly<Record<SchemaName, (workspaceId: string) => Entity>> = {
  activity: buildActivity,
  apiKeyOwners: (workspaceId) => ({ id: newId(), workspaceId }),
  apiKeys: createApiKey,
  campaigns: buildCampaign,
  clickCheckpoints: buildClickCheckpoint,
  contentPillars: buildPillar,
  domains: (workspaceId) => buildDomain(workspaceId, 'go.example.com'),
  eventCounters: buildEventCounter,
  events: buildEvent,
  groups: (workspaceId) => buildGroup(workspaceId, 'Sales'),
  idempotencyRecords: buildIdempotencyRecord,
  inspirationQuestions: buildQuestion,
  members: (workspaceId) => buildMember(workspaceId, 'ada@example.com'),
  shares: buildShare,
  tags: (workspaceId) => buildTag(workspaceId, 'Hiring'),
  webhooks: buildWebhook,
};
