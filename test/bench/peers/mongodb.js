import { createHash } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { PAGE_SIZE, RESPONSE_FIELDS, toDocument, toResponse } from './campaigns.js';

/** The common code of the peers on MongoDB. */

const CALLER_CACHE_TTL_MS = 3_000;

const NEWEST_FIRST = { createdAt: -1, _id: -1 };

/**
 * As in the service, the driver does not check that texts from the database are valid UTF-8. Also as in the service,
 * each query for campaigns or shares names an index (`BY_ID` or `BY_TIME`), so that MongoDB compares no query plans.
 */
const DRIVER_OPTIONS = { enableUtf8Validation: false };
const BY_ID = { _id: 1 };
const BY_TIME = { workspaceId: 1, archived: 1, createdAt: 1, _id: 1 };

function createPageOptions(page) {
  return {
    projection: RESPONSE_FIELDS,
    sort: NEWEST_FIRST,
    hint: BY_TIME,
    skip: (page - 1) * PAGE_SIZE,
    limit: PAGE_SIZE,
  };
}
const CAMPAIGN_OPTIONS = { projection: RESPONSE_FIELDS, hint: BY_ID };
const ONE_SHARE_OPTIONS = { projection: { _id: 1 }, hint: BY_ID };
const SHARES_OF_PAGE_OPTIONS = { projection: { _id: 0, campaignId: 1 }, hint: BY_ID };

/** Returns the filter for the live campaigns of a workspace that contain the search term, if there is one. */
function createFilter(workspaceId, search) {
  if (!search) return { workspaceId, archived: false };
  const pattern = search.toLowerCase().replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return { workspaceId, archived: false, searchText: { $regex: pattern } };
}

function createShareId(memberId, campaignId) {
  return `${memberId}/${campaignId}`;
}

/** Returns the filter for a member's shares of these campaigns. */
function createSharesFilter({ workspaceId, memberId }, documents) {
  return { workspaceId, _id: { $in: documents.map(({ _id }) => createShareId(memberId, _id)) } };
}

/** Returns the responses for documents. `shares` are the caller's shares of these campaigns. */
function toResponses(documents, shares) {
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

/** Connects to the database of `MONGODB_URI`. */
export async function connect() {
  return (await new MongoClient(process.env.MONGODB_URI, DRIVER_OPTIONS).connect()).db();
}

/** The operations on campaigns. They resolve to responses. */
export class Campaigns {
  constructor(db) {
    this.campaigns = db.collection('campaigns');
    this.shares = db.collection('shares');
  }

  async list(caller, page, search) {
    const options = createPageOptions(page);
    const found = await this.campaigns.find(createFilter(caller.workspaceId, search), options).toArray();
    const ownShares = await this.shares.find(createSharesFilter(caller, found), SHARES_OF_PAGE_OPTIONS).toArray();
    return toResponses(found, ownShares);
  }

  /** Resolves with `undefined` if there is no campaign with this ID. */
  async get({ workspaceId, memberId }, id) {
    const [found, share] = await Promise.all([
      this.campaigns.findOne({ workspaceId, _id: id }, CAMPAIGN_OPTIONS),
      this.shares.findOne({ workspaceId, _id: createShareId(memberId, id) }, ONE_SHARE_OPTIONS),
    ]);
    return found ? toResponse(found, share !== null) : undefined;
  }

  async create(caller, body) {
    const document = toDocument(body, caller);
    await this.campaigns.insertOne(document);
    return toResponse(document, false);
  }
}
