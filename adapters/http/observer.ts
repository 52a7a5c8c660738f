import type { ServerResponse } from 'node:http';
import type { RequestContext } from './request-context.ts';

/** The reasons for which a request is rejected because of overload. The texts describe the metrics. */
export const rejectionReasons = {
  workspace: 'one workspace sent too many',
  service: 'all workspaces together sent too many',
  timeout: 'the request was queued for too long',
} as const;
export type RejectionReason = keyof typeof rejectionReasons;

/** Observes responses, unexpected errors, and rejected requests. */
export interface Observer {
  onResponse(context: RequestContext, status: number, milliseconds: number): void;
  onError?(context: RequestContext, error: unknown): void;
  /**
   * Observes a response of `bytes` bytes that stays in memory for now, because the client does not read it fast enough.
   */
  onBufferedResponse?(context: RequestContext, response: ServerResponse, bytes: number): void;
  /** Observes a request that is rejected because of overload. */
  onRejected?(reason: RejectionReason): void;
}
