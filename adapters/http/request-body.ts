import { createHash } from 'node:crypto';
import { MIMEType } from 'node:util';
import type { Request, Response } from 'express';
import rawBody, { type RawBodyError } from 'raw-body';
import { describeTooLongBody, MalformedBody, readJson } from '../api/json-body.ts';
import { createOverloadError, HttpError } from './errors.ts';
import { MemoryBudget } from './protection/memory-budget.ts';

/** Reads a request body as a JSON object. Rejects with an `HttpError`, or with `invalid` if the body has too many elements. */
export type ReadBody = (request: Request, response: Response, workspaceId: string) => Promise<object>;

/** The memory that a chunk of a body takes in addition to its bytes. */
const CHUNK_OVERHEAD_BYTES = 512;

const INCOMPLETE_BODIES_ERROR = createOverloadError(
  'Too many request bodies of your workspace are being received: send fewer at the same time, or send them faster.',
);

/**
 * Returns a function that reads a JSON object in UTF-8 of at most `limit` bytes. The function stops reading a larger body. It
 * also stops reading a body that arrives while the incomplete bodies of its workspace exceed their memory budget.
 */
export function createBodyReader(limit: number): ReadBody {
  const incompleteBodies = new MemoryBudget();
  return async (request, response, workspaceId) => {
    requireJson(request);
    const length = request.headers['content-length'] ?? null;
    const expectsContinue = request.headers.expect !== undefined && request.httpVersionMinor > 0;
    if (expectsContinue && Number(length) <= limit) response.writeContinue();
    let reserved = 0;
    const reserve = (chunk: Buffer) => {
      const cost = chunk.length + CHUNK_OVERHEAD_BYTES;
      reserved += cost;
      incompleteBodies.reserve(workspaceId, cost);
      if (incompleteBodies.isExhausted(workspaceId)) request.emit('error', INCOMPLETE_BODIES_ERROR);
    };
    const release = () => {
      request.off('data', reserve);
      incompleteBodies.reserve(workspaceId, -reserved);
      reserved = 0;
    };
    request.on('data', reserve);
    // Without this listener, an error could be unhandled: raw-body adds no listeners if it rejects a body because of its length,
    // and removes its listeners when it has settled.
    request.on('error', () => undefined);
    // If the response is sent before the body is complete, raw-body gets no `end` event and never settles.
    response.once('close', release);
    const bytes = await rawBody(request, { limit, length })
      .catch((error: RawBodyError | HttpError) => {
        response.shouldKeepAlive = false;
        request.resume();
        if (error instanceof HttpError) throw error;
        throw new HttpError(
          'bad_request',
          error.type === 'entity.too.large' ? `The request body ${describeTooLongBody(limit)}.` : INCOMPLETE_BODY,
        );
      })
      .finally(release);
    return parseJson(bytes);
  };
}

function requireJson({ headers }: Request): void {
  const type = headers['content-type'];
  if (type !== 'application/json' && !isJson(type)) {
    throw new HttpError(
      'bad_request',
      'The request body must be JSON in UTF-8: send it with "Content-Type: application/json".',
    );
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new HttpError('bad_request', 'The request body must not be compressed: send it without Content-Encoding.');
  }
}

function isJson(type: string | undefined): boolean {
  try {
    const { essence, params } = new MIMEType(type ?? '');
    const charsets = type?.match(/;\s*charset\s*=/gi)?.length ?? 0;
    const isUtf8 = charsets === 0 || (charsets === 1 && params.get('charset')?.toLowerCase() === 'utf-8');
    return essence === 'application/json' && isUtf8;
  } catch {
    return false;
  }
}

const INCOMPLETE_BODY = 'The request body is incomplete: send it again.';

function parseJson(bytes: Uint8Array): object {
  if (bytes.length === 0) throw new HttpError('bad_request', 'The request body must not be empty: send a JSON object.');
  try {
    return readJson(bytes);
  } catch (error) {
    throw error instanceof MalformedBody ? new HttpError('bad_request', `The request body ${error.problem}.`) : error;
  }
}

/** Computes a hash of a JSON value that does not depend on the order of field names. */
export function computeFingerprint(value: unknown): string {
  const sortNames = (_: string, inner: unknown): unknown =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner;
  return createHash('sha256').update(JSON.stringify(value, sortNames)).digest('hex');
}
