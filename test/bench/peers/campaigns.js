import { createHash, randomUUID } from 'node:crypto';
import { v7 } from 'uuid';

/** The common code of the peers: documents as this service stores them in its collections, and responses. */

const DAY_MS = 24 * 60 * 60 * 1000;
const CALLER_CACHE_TTL_MS = 3_000;

export const PAGE_SIZE = 25;
export const NEWEST_FIRST = { createdAt: -1, _id: -1 };

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

/**
 * As in the service, the driver does not check that texts from the database are valid UTF-8. Also as in the service,
 * each query for campaigns or shares names an index (`BY_ID` or `BY_TIME`), so that MongoDB compares no query plans.
 */
export const DRIVER_OPTIONS = { enableUtf8Validation: false };
export const BY_ID = { _id: 1 };
export const BY_TIME = { workspaceId: 1, archived: 1, createdAt: 1, _id: 1 };

export function createPageOptions(page) {
  return {
    projection: RESPONSE_FIELDS,
    sort: NEWEST_FIRST,
    hint: BY_TIME,
    skip: (page - 1) * PAGE_SIZE,
    limit: PAGE_SIZE,
  };
}
export const CAMPAIGN_OPTIONS = { projection: RESPONSE_FIELDS, hint: BY_ID };
export const ONE_SHARE_OPTIONS = { projection: { _id: 1 }, hint: BY_ID };
export const SHARES_OF_PAGE_OPTIONS = { projection: { _id: 0, campaignId: 1 }, hint: BY_ID };

/** Returns the filter for the live campaigns of a workspace that contain the search term, if there is one. */
export function createFilter(workspaceId, search) {
  if (!search) return { workspaceId, archived: false };
  const pattern = search.toLowerCase().replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return { workspaceId, archived: false, searchText: { $regex: pattern } };
}

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

export function createShareId(memberId, campaignId) {
  return `${memberId}/${campaignId}`;
}

/** Returns the filter for a member's shares of these campaigns. */
export function createSharesFilter({ workspaceId, memberId }, documents) {
  return { workspaceId, _id: { $in: documents.map(({ _id }) => createShareId(memberId, _id)) } };
}

/** Returns the responses for documents. `shares` are the caller's shares of these campaigns. */
export function toResponses(documents, shares) {
  const shared = new Set(shares.map(({ campaignId }) => campaignId));
  return documents.map((document) => toResponse(document, shared.has(document._id)));
}

/** Finds callers by the hash of their key. Caches them for three seconds, as the service does. */
export class Callers {
  #cache = new Map();

  constructor(db) {
    this.db = db;
  }

  /** Resolves with `undefined` for an unknown key. */
  find(authorization = '') {
    const hash = createHash('sha256')
      .update(authorization.replace(/^Bearer /, ''))
      .digest('hex');
    const cached = this.#cache.get(hash);
    if (cached && Date.now() < cached.expiresAt) return cached.caller;
    const caller = this.#findByHash(hash);
    this.#cache.set(hash, { caller, expiresAt: Date.now() + CALLER_CACHE_TTL_MS });
    return caller;
  }

  async #findByHash(hash) {
    const credential = await this.db.collection('credentials').findOne({ _id: hash });
    if (!credential) return undefined;
    const { workspaceId, keyId } = credential;
    const { memberId } = await this.db.collection('apiKeys').findOne({ _id: keyId, workspaceId, revokedAt: null });
    return { workspaceId, memberId };
  }
}
