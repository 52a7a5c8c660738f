import { randomUUID } from 'node:crypto';
import type { CampaignRecord } from '../../adapters/persistence/campaigns.ts';
import type { ContentPillarRecord } from '../../adapters/persistence/content-pillars.ts';
import type { DomainRecord } from '../../adapters/persistence/domains.ts';
import type { GroupRecord } from '../../adapters/persistence/groups.ts';
import type { InspirationQuestionRecord } from '../../adapters/persistence/inspiration-questions.ts';
import type { recordSchemas } from '../../adapters/persistence/storage-engine.ts';
import type { TagRecord } from '../../adapters/persistence/tags.ts';
import type { ApiKey } from '../../core/access/api-key.ts';
import type { IdempotencyRecord } from '../../core/idempotency/idempotency.ts';
import type { ClickWriter } from '../../core/link/click-writer.ts';
import type { Member } from '../../core/member/member.ts';
import { createShareId, type Share } from '../../core/share/share.ts';
import type { Entity } from '../../core/shared/entity.ts';

const START = '2026-03-01T12:00:00.000Z';
const FAR_FUTURE = Date.parse('2100-01-01T00:00:00.000Z');

const prefix = randomUUID().slice(0, 8);
let idCount = 0;

/** Returns an ID that no other record of any storage has. It is greater than all previous IDs. */
export function newId(): string {
  const digits = (++idCount).toString(16).padStart(12, '0');
  return `${prefix}-0000-7000-8000-${digits}`;
}

export function buildCampaign(workspaceId: string, fields: Partial<CampaignRecord> = {}): CampaignRecord {
  return {
    id: newId(),
    workspaceId,
    createdBy: newId(),
    name: 'Summer',
    description: 'Tents & more: $5.00 off {"all"}',
    shareContext: '',
    objective: 'reach',
    status: 'published',
    archived: false,
    destinationUrl: null,
    startDate: '2026-03-01',
    endDate: '2026-03-31',
    startsAt: 1000,
    endsAt: 2000,
    shareRewardAmount: '0.0001',
    clickRewardAmount: '999999999999.9999',
    maxRewardPerEmployee: '1.50',
    totalBudget: '0',
    domain: 'go.example.com',
    image: null,
    tagIds: [newId(), newId()],
    groupIds: [],
    resources: [
      { url: 'https://example.com/a.png', type: 'image', size: 0.5, width: 640 },
      { url: 'https://example.com/b', language: '' },
    ],
    targetShares: Number.MAX_SAFE_INTEGER,
    contentPillarId: null,
    clicks: 0,
    shares: 0,
    searchText: 'summerςtents & more',
    createdAt: START,
    updatedAt: START,
    ...fields,
  };
}

export function buildQuestion(
  workspaceId: string,
  fields: Partial<InspirationQuestionRecord> = {},
): InspirationQuestionRecord {
  return {
    id: newId(),
    workspaceId,
    question: 'Which story made you proud? 🏆',
    description: 'line one\nline two',
    icon: 'trophy',
    userType: 'all',
    groups: [],
    isActive: true,
    archived: false,
    audience: ['everyone'],
    searchText: 'which story made you proud? 🏆ςline one\nline two',
    createdAt: START,
    updatedAt: START,
    ...fields,
  };
}

export function buildPillar(workspaceId: string, fields: Partial<ContentPillarRecord> = {}): ContentPillarRecord {
  return {
    id: newId(),
    workspaceId,
    title: 'Life outdoors',
    foldedTitle: 'life outdoors',
    description: '',
    color: 'green',
    status: 'published',
    authorId: newId(),
    searchText: 'life outdoorsς',
    createdAt: START,
    updatedAt: START,
    ...fields,
  };
}

export function buildTag(workspaceId: string, name: string, fields: Partial<TagRecord> = {}): TagRecord {
  return {
    id: newId(),
    workspaceId,
    name,
    foldedName: name.toLowerCase(),
    color: 'red',
    createdAt: START,
    updatedAt: START,
    ...fields,
  };
}

export function buildGroup(workspaceId: string, name: string): GroupRecord {
  return { id: newId(), workspaceId, name, foldedName: name.toLowerCase(), description: '', createdAt: START };
}

export function buildDomain(workspaceId: string, slug: string): DomainRecord {
  return {
    id: newId(),
    workspaceId,
    slug,
    verified: false,
    archived: false,
    placeholder: '',
    expiredUrl: '',
    notFoundUrl: '',
    liveSince: START,
    searchText: slug,
    createdAt: START,
    updatedAt: START,
  };
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
    response: { status: 201, body: '{"id":"1"}' },
    expiresAt: FAR_FUTURE,
    ...fields,
  };
}

function createApiKey(workspaceId: string): ApiKey {
  return {
    id: newId(),
    workspaceId,
    hash: newId(),
    lastFour: 'abcd',
    label: '',
    memberId: null,
    access: 'full',
    createdAt: START,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
  };
}

function createMember(workspaceId: string): Member {
  return {
    id: newId(),
    workspaceId,
    name: 'Ada',
    email: 'ada@example.com',
    role: 'admin',
    seatType: 'advocate',
    groupIds: [newId()],
    invitation: 'accepted',
    createdAt: START,
    updatedAt: START,
  };
}

export function buildClickWriter(workspaceId: string): ClickWriter {
  return { id: newId(), workspaceId, sequence: 1, expiresAt: FAR_FUTURE };
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
    createdAt: START,
    ...fields,
  };
}

export type SchemaName = keyof typeof recordSchemas;

/** Functions that create a sample record, by the name of its schema. */
export const samples: Readonly<Record<SchemaName, (workspaceId: string) => Entity>> = {
  apiKeys: createApiKey,
  campaigns: buildCampaign,
  clickWriters: buildClickWriter,
  contentPillars: buildPillar,
  domains: (workspaceId) => buildDomain(workspaceId, 'go.example.com'),
  groups: (workspaceId) => buildGroup(workspaceId, 'Sales'),
  idempotencyRecords: buildIdempotencyRecord,
  inspirationQuestions: buildQuestion,
  members: createMember,
  shares: buildShare,
  tags: (workspaceId) => buildTag(workspaceId, 'Hiring'),
};
