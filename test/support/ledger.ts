import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Campaign } from '../../core/campaign/campaign.ts';
import { collected } from './collected.ts';
import { type Sent, send } from './load.ts';
import { withUseCases } from './mongodb-service.ts';
import { campaignBody } from './samples.ts';

const PAUSE_AFTER_FAILURE_MS = 50;

/** What the service answers where it fails: to the letter, so that nothing of its inside is in it. */
const FAILURE = {
  error: {
    code: 'internal_server_error',
    message: 'Something went wrong here: try again, and tell us the X-Request-Id if it stays.',
    doc_url: '/docs/errors#internal-server-error',
  },
};

/** Fails unless the answer is the error object of a failure. */
export function assertFailure({ status, text }: Sent): void {
  assert.equal(status, 500, text);
  assert.deepEqual(JSON.parse(text), FAILURE);
}

/** What clients wrote over HTTP, as they know it, for the comparison with what is stored. */
export class Ledger {
  private readonly tried = new Set<string>();
  private readonly kept = new Map<string, string>();
  private readonly unsure = new Map<number, string>();

  /** `url` is asked at each request: the service may be another one by then. */
  constructor(
    private readonly url: () => string,
    private readonly key: string,
  ) {}

  /** How many writes were acknowledged. */
  get size(): number {
    return this.kept.size;
  }

  /** What was sent under an `Idempotency-Key` and is not acknowledged yet. */
  get unacknowledged(): readonly string[] {
    return [...this.unsure.values()];
  }

  /**
   * Creates a campaign. Clients of an odd number send an `Idempotency-Key`, and the same campaign again until it is
   * acknowledged; the others another one each time.
   */
  async write(client: number, i: number): Promise<Sent> {
    const name = this.unsure.get(client) ?? `campaign ${client}.${i}`;
    const headers = client % 2 === 1 ? { 'Idempotency-Key': name.replace(' ', '-') } : undefined;
    const body = { ...campaignBody, name };
    this.tried.add(name);
    this.unsure.delete(client);
    const sent = await send(this.url(), { ...POST, key: this.key, body, ...(headers && { headers }) });
    if (sent.status === 201) {
      this.kept.set(name, JSON.parse(sent.text).id);
    } else {
      if (headers) this.unsure.set(client, name);
      await delay(PAUSE_AFTER_FAILURE_MS);
    }
    return sent;
  }

  /** Fails unless everything that was acknowledged is stored, and nothing twice. */
  async check(uri: string, workspaceId: string): Promise<void> {
    const stored = await withUseCases(uri, (app) => collected<Campaign>(app.campaigns.iterate(workspaceId)));
    const ids = new Map(stored.map(({ name, id }) => [name, id]));
    const names = stored.map(({ name }) => name).filter((name) => this.tried.has(name));
    const doubled = names.filter((name, i) => names.indexOf(name) !== i);
    const lost = [...this.kept].filter(([name, id]) => ids.get(name) !== id);
    assert.deepEqual({ lost, doubled }, { lost: [], doubled: [] });
  }
}

const POST = { method: 'POST', path: '/campaigns' } as const;
