import { randomUUID } from 'node:crypto';
import { v7 } from 'uuid';

/** The common code of the peers: documents as this service stores them in its collections, and responses. */

const DAY_MS = 24 * 60 * 60 * 1000;
export const PAGE_SIZE = 25;
/** The fields of a response, as a projection. */
export const RESPONSE_FIELDS = {
  name: 1,
  status: 1,
  createdAt: 1,
  description: 1,
  destinationUrl: 1,
  clicks: 1,
  shares: 1,
  startDate: 1,
  endDate: 1,
  targetShares: 1,
};

/** Returns the document of a new campaign. The dates in the body must have no time (`2026-01-31`). */
export function toDocument(body, { workspaceId, memberId }) {
  const now = new Date().toISOString();
  return {
    _id: v7(),
    workspaceId,
    createdBy: memberId,
    name: body.name,
    description: body.description,
    shareContext: body.shareContext,
    objective: body.objective,
    status: body.status,
    archived: body.status === 'archived',
    destinationUrl: body.destinationUrl,
    startDate: body.startDate,
    endDate: body.endDate,
    startsAt: Date.parse(body.startDate),
    endsAt: Date.parse(body.endDate) + DAY_MS - 1,
    shareRewardAmount: String(body.shareRewardAmount),
    clickRewardAmount: String(body.clickRewardAmount),
    maxRewardPerEmployee: String(body.maxRewardPerEmployee),
    totalBudget: String(body.totalBudget),
    domain: null,
    image: null,
    tagIds: [],
    groupIds: [],
    resources: [],
    targetShares: null,
    contentPillarId: null,
    clicks: 0,
    shares: 0,
    searchText: `${body.name}\0${body.description}`.toLowerCase(),
    createdAt: now,
    updatedAt: now,
    revision: randomUUID(),
  };
}

/** Returns the response for a document. */
export function toResponse(document, hasShared) {
  return {
    id: document._id,
    name: document.name,
    status: document.status,
    createdAt: document.createdAt,
    description: document.description,
    destinationUrl: document.destinationUrl,
    clicks: document.clicks,
    shares: document.shares,
    startDate: document.startDate,
    endDate: document.endDate,
    targetShares: document.targetShares,
    hasShared,
  };
}
