import { CoreError, invalidFields } from '../shared/core-error.ts';
import type { System } from '../shared/system.ts';
import {
  type IdempotentRequest,
  type IdempotentRequestRepository,
  LOCK_TTL_MS,
  RESPONSE_TTL_MS,
  type StoredResponse,
} from './idempotency.ts';

/** A request to be answered once: its key under an API key and an operation, and the hash of what it asks. */
export interface IdempotentCall {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly operationId: string;
  readonly idempotencyKey: string;
  readonly fingerprint: string;
}

/** The steps of answering a request once; `Application.once` puts them in order. */
export class IdempotencyService {
  constructor(
    private readonly requests: IdempotentRequestRepository,
    private readonly system: Pick<System, 'newId'>,
    /** The clock that all processes share (`Storage.now`). */
    private readonly now: () => number,
  ) {}

  /**
   * Holds the request for its caller, or tells the reply that its first success got. Refuses with `conflict` while
   * another one runs, and with `invalid` where the first success asked for something else.
   */
  async acquire(request: IdempotentCall): Promise<{ readonly holder: string } | { readonly reply: StoredResponse }> {
    const holder = this.system.newId();
    const { workspaceId, fingerprint } = request;
    const id = recordId(request);
    // Read the clock after the storage was reached: before that, it may be the clock of this process (`Storage.now`).
    const mine = (): IdempotentRequest => {
      return { id, workspaceId, fingerprint, holder, reply: null, expiresAt: this.now() + LOCK_TTL_MS };
    };
    const takeOver = (current: IdempotentRequest): IdempotentRequest =>
      current.expiresAt <= this.now() ? mine() : current;
    let current = await this.requests.update(workspaceId, id, takeOver);
    if (!current) {
      current = mine();
      await this.requests.add(current).catch((error) => {
        throw error instanceof CoreError && error.kind === 'conflict' ? inProgress() : error;
      });
    }
    if (current.holder === holder) return { holder };
    if (current.reply === null) throw inProgress();
    if (current.fingerprint !== fingerprint) {
      throw invalidFields([{ path: 'Idempotency-Key', problem: 'was used for another body: send a new key' }]);
    }
    return { reply: current.reply };
  }

  /** Keeps the reply of a request that its caller still holds; refuses with `conflict` where another took it over. */
  async complete(request: IdempotentCall, holder: string, reply: StoredResponse): Promise<void> {
    const expiresAt = this.now() + RESPONSE_TTL_MS;
    const kept = await this.requests.update(request.workspaceId, recordId(request), (current) =>
      current.holder === holder ? { ...current, reply, expiresAt } : current,
    );
    if (kept?.holder !== holder) throw inProgress();
  }

  /** Lets go of a request that was refused or failed, so that the next one is served. */
  async release(request: IdempotentCall, holder: string): Promise<void> {
    await this.requests.update(request.workspaceId, recordId(request), (current) =>
      current.holder === holder && current.reply === null ? { ...current, expiresAt: 0 } : current,
    );
  }
}

function recordId({ keyId, operationId, idempotencyKey }: IdempotentCall): string {
  return `${keyId}/${operationId}/${idempotencyKey}`;
}

function inProgress(): CoreError {
  return new CoreError('conflict', 'A request with this Idempotency-Key is being served: send it again in a moment.');
}
