import { createHash, randomUUID } from 'node:crypto';
import { v7 } from 'uuid';

/** What the peers have in common: how campaigns are kept (as the service keeps them, in its collections) and shown. */

const DAY_MS = 24 * 60 * 60 * 1000;
const KEPT_MS = 3_000;

export const PAGE_SIZE = 25;
export const NEWEST_FIRST = { createdAt: -1, _id: -1 };

/** The fields that a reply is made of, as a projection. */
export const SHOWN = {
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

/** As the service reads: what it wrote itself need not be validated again, and no plan needs to be weighed against others. */
export const DRIVER = { enableUtf8Validation: false };
export const BY_ID = { _id: 1 };
export const BY_TIME = { workspaceId: 1, archived: 1, createdAt: 1, _id: 1 };

/** How the campaigns of a page, one of them, and the shares of some are found. */
export function pageOptions(page) {
  return { projection: SHOWN, sort: NEWEST_FIRST, hint: BY_TIME, skip: (page - 1) * PAGE_SIZE, limit: PAGE_SIZE };
}
export const ONE = { projection: SHOWN, hint: BY_ID };
export const SHARE = { projection: { _id: 1 }, hint: BY_ID };
export const SHARES = { projection: { _id: 0, campaignId: 1 }, hint: BY_ID };

/** The live campaigns of a workspace; those with a text in them where one is searched. */
export function filterOf(workspaceId, search) {
  if (!search) return { workspaceId, archived: false };
  const literally = search.toLowerCase().replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return { workspaceId, archived: false, searchText: { $regex: literally } };
}

/** The document of a new campaign, whose dates are bare ones (`2026-01-31`). */
export function documentOf(body, { workspaceId, memberId }) {
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

/** What is shown of a document. */
export function answerOf(document, hasShared) {
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

export function shareId(memberId, campaignId) {
  return `${memberId}/${campaignId}`;
}

/** The filter of a member's shares of some campaigns. */
export function sharesOf({ workspaceId, memberId }, documents) {
  return { workspaceId, _id: { $in: documents.map(({ _id }) => shareId(memberId, _id)) } };
}

/** What is shown of documents; `shares` are the caller's of them. */
export function answersOf(documents, shares) {
  const shared = new Set(shares.map(({ campaignId }) => campaignId));
  return documents.map((document) => answerOf(document, shared.has(document._id)));
}

/** Tells who calls by the hash of the key, which it remembers for three seconds as the service does. */
export class Callers {
  #known = new Map();

  constructor(db) {
    this.db = db;
  }

  /** `undefined` for a key that is not known. */
  of(authorization = '') {
    const hash = createHash('sha256')
      .update(authorization.replace(/^Bearer /, ''))
      .digest('hex');
    const known = this.#known.get(hash);
    if (known && Date.now() < known.until) return known.caller;
    const caller = this.#find(hash);
    this.#known.set(hash, { caller, until: Date.now() + KEPT_MS });
    return caller;
  }

  async #find(hash) {
    const credential = await this.db.collection('credentials').findOne({ _id: hash });
    if (!credential) return undefined;
    const { workspaceId, keyId } = credential;
    const { memberId } = await this.db.collection('apiKeys').findOne({ _id: keyId, workspaceId, revokedAt: null });
    return { workspaceId, memberId };
  }
}
