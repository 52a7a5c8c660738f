import { RESPONSE_TTL_MS } from '../limits.ts';
import { CoreError, createInvalidFieldsError } from '../shared/core-error.ts';
import type { Clock, System } from '../shared/system.ts';
import { type IdempotencyRecord, newLock, type StoredResponse } from './idempotency.ts';
import type { IdempotencyRepository } from './idempotency-repository.ts';

/** A request that a client sends with an idempotency key. */
export interface IdempotentRequest {
  readonly workspaceId: string;
  /** The ID of the API key of the request, or of the import. */
  readonly keyId: string;
  readonly idempotencyKey: string;
  /** The name of the idempotency key in error messages. By default, `idempotencyKey`. */
  readonly idempotencyKeyName?: string;
  /** A hash of everything that a repeated request must have in common with the first one, such as its path and body. */
  readonly fingerprint: string;
  /**
   * How to get another secret, if the response has a secret. Then only the ID of the created record is stored, and a
   * repeated request is rejected.
   */
  readonly lostSecretRemedy?: string | undefined;
}

/**
 * The locks and the stored responses of requests with an idempotency key. `Application.runOnce` calls `acquire`, and
 * then `complete` after a success or `release` after an error.
 */
export class IdempotencyService {
  constructor(
    private readonly records: IdempotencyRepository,
    private readonly system: Pick<System, 'newId'>,
    /** The clock that all processes share. */
    private readonly storageClock: Clock,
  ) {}

  /**
   * Locks the request. If a request with the same idempotency key has already succeeded, returns its response instead.
   * Rejects with `conflict` while another request has the lock, or if the response had a secret, and with `invalid` if
   * the request that succeeded had another fingerprint.
   */
  async acquire(
    request: IdempotentRequest,
  ): Promise<{ readonly lockOwner: string } | { readonly response: StoredResponse }> {
    const lockOwner = this.system.newId();
    const { workspaceId, fingerprint } = request;
    const id = createRecordId(request);
    const createLock = () => newLock(id, request, lockOwner, this.storageClock.now());
    // Most idempotency keys are new, so the usual request needs one write.
    if (await this.add(createLock())) return { lockOwner };
    const current = await this.records.update(workspaceId, id, (existing) =>
      existing.expiresAt <= this.storageClock.now() ? createLock() : existing,
    );
    if (current?.lockOwner === lockOwner) return { lockOwner };
    // If there is no record any more, the storage has just removed it because it had expired. The error makes the
    // client retry.
    if (!current || current.response === null) throw createInProgressError();
    if (current.fingerprint !== fingerprint) {
      const problem = 'was already used with another path or body, send a new key for each new request';
      const path = request.idempotencyKeyName ?? 'idempotencyKey';
      throw createInvalidFieldsError([{ path, problem }], 'idempotency_key_reused');
    }
    if (request.lostSecretRemedy !== undefined) {
      const message = `already created as ${current.response.recordId}; ${request.lostSecretRemedy}`;
      throw new CoreError('conflict', message, 'already_created');
    }
    return { response: current.response };
  }

  /** Adds a lock. Returns `false` if there is a record with its ID. */
  private async add(lock: IdempotencyRecord): Promise<boolean> {
    try {
      await this.records.add(lock);
      return true;
    } catch (error) {
      if (error instanceof CoreError && error.kind === 'conflict') return false;
      throw error;
    }
  }

  /** Stores the response of a locked request. Rejects with `conflict` if the request no longer has the lock. */
  async complete(request: IdempotentRequest, lockOwner: string, response: StoredResponse): Promise<void> {
    const expiresAt = this.storageClock.now() + RESPONSE_TTL_MS;
    const kept = request.lostSecretRemedy === undefined ? response : { recordId: response.recordId };
    const stored = await this.records.update(request.workspaceId, createRecordId(request), (current) =>
      current.lockOwner === lockOwner ? { ...current, response: kept, expiresAt } : current,
    );
    if (stored?.lockOwner !== lockOwner) throw createInProgressError();
  }

  /** Releases the lock of a request that was rejected or failed, so that the client can retry it. */
  async release(request: IdempotentRequest, lockOwner: string): Promise<void> {
    await this.records.update(request.workspaceId, createRecordId(request), (current) =>
      current.lockOwner === lockOwner && current.response === null ? { ...current, expiresAt: 0 } : current,
    );
  }
}

function createRecordId({ keyId, idempotencyKey }: IdempotentRequest): string {
  return `${keyId}/${idempotencyKey}`;
}

function createInProgressError(): CoreError {
  return new CoreError(
    'conflict',
    'A request with this idempotency key is in progress. Retry in a moment.',
    'idempotency_key_in_use',
  );
}
