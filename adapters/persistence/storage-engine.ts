import type { Workspace } from '../../core/access/workspace.ts';
import { apiKeySchema, type Credential } from './api-keys.ts';
import { campaignSchema } from './campaigns.ts';
import { clickWriterSchema } from './click-writers.ts';
import { contentPillarSchema } from './content-pillars.ts';
import { domainSchema, type VerifiedSlug } from './domains.ts';
import { groupSchema } from './groups.ts';
import { idempotencyRecordSchema } from './idempotency-records.ts';
import { inspirationQuestionSchema } from './inspiration-questions.ts';
import type { StoredLink, StoredVisitorKey } from './links.ts';
import { memberSchema } from './members.ts';
import type { GlobalRecordStore, RecordSchema, RecordStore } from './record-store.ts';
import { shareSchema } from './shares.ts';
import { tagSchema } from './tags.ts';

/** The schemas of all records that belong to a workspace, by the names of their stores. */
export const recordSchemas = {
  apiKeys: apiKeySchema,
  campaigns: campaignSchema,
  clickWriters: clickWriterSchema,
  contentPillars: contentPillarSchema,
  domains: domainSchema,
  groups: groupSchema,
  idempotentRequests: idempotencyRecordSchema,
  inspirationQuestions: inspirationQuestionSchema,
  members: memberSchema,
  shares: shareSchema,
  tags: tagSchema,
};

type RecordOf<S> = S extends RecordSchema<infer T> ? T : never;

/** The records of the global stores. They are unique over all workspaces, and are read by id alone. */
interface GlobalRecords {
  readonly credentials: Credential;
  readonly links: StoredLink;
  readonly verifiedSlugs: VerifiedSlug;
  readonly visitorKeys: StoredVisitorKey;
  readonly workspaces: Workspace;
}

export const globalStoreNames = [
  'credentials',
  'links',
  'verifiedSlugs',
  'visitorKeys',
  'workspaces',
] as const satisfies (keyof GlobalRecords)[];

/** The stores of all schemas. */
export type RecordStores = {
  readonly [N in keyof typeof recordSchemas]: RecordStore<RecordOf<(typeof recordSchemas)[N]>>;
} & { readonly [N in keyof GlobalRecords]: GlobalRecordStore<GlobalRecords[N]> };

/** The port that each storage engine implements. Its methods are those of `Storage` (core/storage.ts). */
export type StorageEngine = RecordStores & {
  /**
   * Runs work in a transaction. The work sees the records as they were at its start, and its own changes. Others see all of its changes
   * or none. An engine chooses what happens to a change from outside while the transaction runs:
   * - optimistic: the change is made, and the work runs again if it changes the same record.
   * - serialized: the change is made after the transaction has ended.
   * So the work must use only the engine that it is given, and must not wait for other changes. Reads from outside never wait.
   */
  runInTransaction<T>(work: (engine: StorageEngine) => Promise<T>): Promise<T>;
  now(): number;
  checkReady(): Promise<void>;
};
