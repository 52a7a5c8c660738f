import type { Page, PageRequest } from '../shared/page.ts';
import type { EntityChange } from '../shared/repository.ts';
import type { Webhook } from './webhook.ts';

/** The webhooks of all workspaces. */
export interface WebhookRepository {
  findById(workspaceId: string, id: string): Promise<Webhook | undefined>;
  /** Returns a page of the webhooks, newest first. */
  findPage(workspaceId: string, page: PageRequest): Promise<Page<Webhook>>;
  /** Returns the workspaces that have webhooks. */
  findWorkspaceIds(): Promise<ReadonlySet<string>>;
  /**
   * Returns the number of webhooks. It writes a record, so that of two simultaneous transactions that begin with this
   * call, one sees the changes of the other.
   */
  countForUpdate(workspaceId: string): Promise<number>;
  /** Adds a webhook. It writes twice, so call it in a transaction. */
  add(webhook: Webhook): Promise<void>;
  update(workspaceId: string, id: string, change: EntityChange<Webhook>): Promise<Webhook | undefined>;
  /** Removes a webhook. It writes twice, so call it in a transaction. Returns whether it existed. */
  remove(workspaceId: string, id: string): Promise<boolean>;
}
