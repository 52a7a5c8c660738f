import type { Webhook } from '../../core/webhook/webhook.ts';
import type { WebhookRepository } from '../../core/webhook/webhook-repository.ts';
import type { EventCounter } from './events.ts';
import { iterateGlobal } from './iterate-by-id.ts';
import type { GlobalRecordStore, RecordStore } from './record-store.ts';
import { createRepository, readPage } from './repository.ts';
import { defineSchema } from './schema.ts';

export const webhookSchema = defineSchema<Webhook>({ columns: { createdAt: 'text' }, indexes: [['createdAt']] });

/** The workspace of a webhook, by the ID of the webhook. So a process finds the webhooks of all workspaces. */
export interface WebhookWorkspace {
  readonly id: string;
  readonly workspaceId: string;
}

export function createWebhookRepository(
  store: RecordStore<Webhook>,
  workspaces: GlobalRecordStore<WebhookWorkspace>,
  counters: RecordStore<EventCounter>,
): WebhookRepository {
  const { add, remove, ...others } = createRepository(store, webhookSchema);
  return {
    findPage: (workspaceId, page) =>
      readPage(store, workspaceId, { where: [], by: 'createdAt', order: 'desc' }, page, webhookSchema.toEntity),
    async findWorkspaceIds() {
      const ids = new Set<string>();
      for await (const { workspaceId } of iterateGlobal(workspaces)) ids.add(workspaceId);
      return ids;
    },
    async countForUpdate(workspaceId) {
      await counters.increment(workspaceId, workspaceId, 'webhookWriteCount');
      return store.count(workspaceId, []);
    },
    async add(webhook) {
      await add(webhook);
      await workspaces.add({ id: webhook.id, workspaceId: webhook.workspaceId });
    },
    async remove(workspaceId, id) {
      return (await remove(workspaceId, id)) && workspaces.remove(id);
    },
    ...others,
  };
}
