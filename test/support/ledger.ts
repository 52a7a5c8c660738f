import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { listCampaigns } from './list-campaigns.ts';
import { type LoadResponse, send } from './load.ts';
import { campaignBody } from './samples.ts';
import { withApplication } from './storage.ts';

const RETRY_DELAY_MS = 50;

/** Every internal error has exactly this body, and so reveals no internal details. */
const INTERNAL_ERROR = {
  error: {
    code: 'internal_server_error',
    message: 'Internal error. Retry the request. If it fails again, report the X-Request-Id.',
    doc_url: '/docs/errors#internal-server-error',
  },
};

/**
 * Fails unless the response is a 500 with exactly the body `INTERNAL_ERROR`. `Retry-After` must say whether the storage
 * is only unavailable for now.
 */
export function assertInternalError({ status, text, headers }: LoadResponse, isTransient = true): void {
  assert.equal(status, 500, text);
  assert.deepEqual(JSON.parse(text), INTERNAL_ERROR);
  assert.equal(headers['retry-after'], isTransient ? '1' : undefined);
}

/** The campaigns that clients have created over HTTP, to compare them with the stored campaigns. */
export class Ledger {
  private readonly sentNames = new Set<string>();
  /** The IDs of the acknowledged campaigns, by name. */
  private readonly acknowledged = new Map<string, string>();
  /** The names of the campaigns that are not acknowledged yet, by client. */
  private readonly pending = new Map<number, string>();

  /** `url` is called for each request, because a test may replace the service. */
  constructor(
    private readonly url: () => string,
    private readonly key: string,
  ) {}

  /** The number of acknowledged campaigns. */
  get size(): number {
    return this.acknowledged.size;
  }

  /** The names of the campaigns that were sent with an `Idempotency-Key` and are not acknowledged yet. */
  get unacknowledged(): readonly string[] {
    return [...this.pending.values()];
  }

  /**
   * Creates a campaign. A client with an odd number sends an `Idempotency-Key`, and retries a campaign until it is
   * acknowledged. The other clients send a new campaign each time.
   */
  async write(client: number, i: number): Promise<LoadResponse> {
    const name = this.pending.get(client) ?? `campaign ${client}.${i}`;
    const headers = client % 2 === 1 ? { 'Idempotency-Key': name.replace(' ', '-') } : undefined;
    const body = { ...campaignBody, name };
    this.sentNames.add(name);
    this.pending.delete(client);
    const response = await send(this.url(), { ...POST, key: this.key, body, ...(headers && { headers }) });
    if (response.status === 201) {
      this.acknowledged.set(name, JSON.parse(response.text).id);
    } else {
      if (headers) this.pending.set(client, name);
      await delay(RETRY_DELAY_MS);
    }
    return response;
  }

  /** Fails unless all acknowledged campaigns are stored, and no sent campaign is stored twice. */
  async assertStored(storage: Parameters<typeof withApplication>[0], workspaceId: string): Promise<void> {
    const stored = await withApplication(storage, (app) => listCampaigns(app, workspaceId));
    const ids = new Map(stored.map(({ name, id }) => [name, id]));
    const names = stored.map(({ name }) => name).filter((name) => this.sentNames.has(name));
    const duplicates = names.filter((name, i) => names.indexOf(name) !== i);
    const lost = [...this.acknowledged].filter(([name, id]) => ids.get(name) !== id);
    assert.deepEqual({ lost, duplicates }, { lost: [], duplicates: [] });
  }
}

const POST = { method: 'POST', path: '/campaigns' } as const;
