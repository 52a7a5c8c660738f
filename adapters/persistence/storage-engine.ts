import type { Storage } from '../../core/application.ts';
import { doNothing } from '../../core/shared/do-nothing.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';
import { activitySchema, createActivityRepository } from './activities.ts';
import { apiKeyOwnerSchema, apiKeySchema, type Credential, createApiKeyRepository } from './api-keys.ts';
import { campaignSchema, createCampaignRepository } from './campaigns.ts';
import { clickCheckpointSchema, createClickCheckpointRepository } from './click-checkpoints.ts';
import { contentPillarSchema, createContentPillarRepository } from './content-pillars.ts';
import { createDomainRepository, domainSchema } from './domains.ts';
import { createEventRepository, eventCounterSchema, eventSchema } from './events.ts';
import { createGroupRepository, groupSchema } from './groups.ts';
import { createIdempotencyRepository, idempotencyRecordSchema } from './idempotency-records.ts';
import { createInspirationQuestionRepository, inspirationQuestionSchema } from './inspiration-questions.ts';
import { createLinkRepository, type StoredLink } from './links.ts';
import { createMemberRepository, memberSchema } from './members.ts';
import type { AnyRecord, GlobalRecordStore, RecordSchema, RecordStore } from './record-store.ts';
import { createShareRepository, shareSchema } from './shares.ts';
import { createTagRepository, tagSchema } from './tags.ts';
import { createVerifiedSlugRepository, type StoredVerifiedSlug } from './verified-slugs.ts';
import { createVisitorKeyRepository, type StoredVisitorKey } from './visitor-keys.ts';
import { createWebhookRepository, type WebhookWorkspace, webhookSchema } from './webhooks.ts';
import { createWorkspaceRepository } from './workspaces.ts';

/**
 * The schemas of all records that belong to a workspace, by the names of their stores. Databases have tables or
 * collections with these names, so a name cannot change.
 */
export const recordSchemas = {
  activity: activitySchema,
  apiKeyOwners: apiKeyOwnerSchema,
  apiKeys: apiKeySchema,
  campaigns: campaignSchema,
  clickCheckpoints: clickCheckpointSchema,
  contentPillars: contentPillarSchema,
  domains: domainSchema,
  eventCounters: eventCounterSchema,
  events: eventSchema,
  groups: groupSchema,
  idempotencyRecords: idempotencyRecordSchema,
  inspirationQuestions: inspirationQuestionSchema,
  members: memberSchema,
  shares: shareSchema,
  tags: tagSchema,
  webhooks: webhookSchema,
};

type RecordOf<S> = S extends RecordSchema<infer T> ? T : never;

/** The records of the global stores: unique over all workspaces, and read without the ID of a workspace. */
interface GlobalRecords {
  readonly credentials: Credential;
  readonly links: StoredLink;
  readonly verifiedSlugs: StoredVerifiedSlug;
  readonly visitorKeys: StoredVisitorKey;
  readonly webhookWorkspaces: WebhookWorkspace;
  readonly workspaces: Workspace;
}

/** An entry for each global store. If an entry is missing, the code does not compile. */
const globalStores: Readonly<Record<keyof GlobalRecords, true>> = {
  credentials: true,
  links: true,
  verifiedSlugs: true,
  visitorKeys: true,
  webhookWorkspaces: true,
  workspaces: true,
};

export const globalStoreNames = Object.keys(globalStores) as readonly (keyof GlobalRecords)[];

/** The store that a readiness check reads. The authentication of a request reads it, too. */
export const PROBED_STORE_NAME: keyof GlobalRecords = 'credentials';

/** The store of each schema, and the global stores. */
export type RecordStores = {
  readonly [N in keyof typeof recordSchemas]: RecordStore<RecordOf<(typeof recordSchemas)[N]>>;
} & { readonly [N in keyof GlobalRecords]: GlobalRecordStore<GlobalRecords[N]> };

/** The workspace ID of the records in which `toGlobalRecordStore` keeps global records. */
const GLOBAL = '';

/** Returns a global store that keeps each global record in `store`, as the field `entry` of a record. */
function toGlobalRecordStore(store: RecordStore<AnyRecord>): GlobalRecordStore<{ readonly id: string }> {
  return {
    get: async (id) => (await store.get(GLOBAL, id))?.entry as never,
    list: async (after, take) => (await store.listById(GLOBAL, after, take)).map(({ entry }) => entry as never),
    add: (entry) => store.add({ id: entry.id, workspaceId: GLOBAL, entry }),
    remove: (id) => store.remove(GLOBAL, id),
  };
}

/**
 * Creates the stores of an engine, which keeps global records like other records. `tables` has the table of each store.
 */
export function createStores<Table>(
  tables: ReadonlyMap<string, Table>,
  createRecordStore: (table: Table) => RecordStore<AnyRecord>,
): RecordStores {
  const stores = [...tables].map(([name, table]) => {
    const store = createRecordStore(table);
    return [name, name in recordSchemas ? store : toGlobalRecordStore(store)];
  });
  return Object.fromEntries(stores);
}

/** The port that each storage engine implements. `createStorage` makes the storage of the core from it. */
export type StorageEngine = RecordStores & {
  /**
   * Runs work in a transaction. The work sees the records as they were when it started, and its own changes. Calls
   * outside of the transaction see all of its changes or none, and reads never wait. A change outside of the
   * transaction, while it runs, depends on the engine.
   *
   * - In an optimistic engine, the change is made at once. But if the work has already changed the same record, the
   *   change waits until the transaction has ended. If the work later changes a record that was changed outside, the
   *   engine runs the work again.
   * - In a serialized engine, the change is made after the transaction has ended.
   *
   * So the work must make its own changes with its argument `engine`, and must not wait for changes outside of the
   * transaction.
   */
  runInTransaction<T>(work: (engine: StorageEngine) => Promise<T>): Promise<T>;
  now(): number;
  checkReady(): Promise<void>;
};

/** Creates the storage of the core on a storage engine. */
export function createStorage(engine: StorageEngine): Storage {
  const listeners: ((workspaceId: string) => void)[] = [];
  const run: Storage['unitOfWork']['run'] = async (work) => {
    // The workspaces to which the last attempt has added events.
    let workspaceIds = new Set<string>();
    const result = await engine.runInTransaction((transaction) => {
      const added = new Set<string>();
      workspaceIds = added;
      const storage: Storage = {
        ...createRepositories(transaction, (workspaceId) => added.add(workspaceId)),
        unitOfWork: { run: (nestedWork) => nestedWork(storage) },
        onEventsCommitted,
      };
      return work(storage);
    });
    for (const workspaceId of workspaceIds) for (const listener of listeners) listener(workspaceId);
    return result;
  };
  const onEventsCommitted: Storage['onEventsCommitted'] = (listener) => void listeners.push(listener);
  return { ...createRepositories(engine, doNothing), unitOfWork: { run }, onEventsCommitted };
}

/** Creates everything of a storage but its transactions. `onEventAdded` is called with the ID of a workspace. */
function createRepositories(
  engine: StorageEngine,
  onEventAdded: (workspaceId: string) => void,
): Omit<Storage, 'unitOfWork' | 'onEventsCommitted'> {
  return {
    activity: createActivityRepository(engine.activity),
    apiKeys: createApiKeyRepository(engine.apiKeys, engine.apiKeyOwners, engine.credentials),
    campaigns: createCampaignRepository(engine.campaigns, engine.shares),
    clickCheckpoints: createClickCheckpointRepository(engine.clickCheckpoints),
    contentPillars: createContentPillarRepository(engine.contentPillars),
    domains: createDomainRepository(engine.domains),
    events: createEventRepository(engine.events, engine.eventCounters, onEventAdded),
    groups: createGroupRepository(engine.groups, engine.members),
    idempotencyRecords: createIdempotencyRepository(engine.idempotencyRecords),
    inspirationQuestions: createInspirationQuestionRepository(engine.inspirationQuestions),
    links: createLinkRepository(engine.links, engine.campaigns),
    members: createMemberRepository(engine.members, engine.apiKeys, engine.apiKeyOwners),
    shares: createShareRepository(engine.shares),
    tags: createTagRepository(engine.tags),
    verifiedSlugs: createVerifiedSlugRepository(engine.verifiedSlugs),
    visitorKeys: createVisitorKeyRepository(engine.visitorKeys),
    webhooks: createWebhookRepository(engine.webhooks, engine.webhookWorkspaces, engine.eventCounters),
    workspaces: createWorkspaceRepository(engine.workspaces),
    clock: engine,
    checkReady: () => engine.checkReady(),
  };
}
