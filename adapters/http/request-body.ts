import { createHash } from 'node:crypto';
import { MIMEType } from 'node:util';
import type { Request, Response } from 'express';
import rawBody, { type RawBodyError } from 'raw-body';
import { describeTooLongBody, MalformedBody, readJson } from '../api/json-body.ts';
import { HttpError, overloaded } from './errors.ts';
import { MemoryBudget } from './memory-budget.ts';

export type ReadBody = (request: Request, response: Response, workspaceId: string) => Promise<object>;

/** What a piece of a body costs in memory beside its bytes. */
const COST_OF_A_PIECE = 512;

const TOO_MUCH_ARRIVES = overloaded(
  'Too many bodies of your workspace are on their way at the same time: send fewer at once, or faster.',
);

/**
 * Makes the reader of JSON bodies: one object in UTF-8, at most `limit` bytes. What is larger is not read to its end, nor
 * is what comes while its workspace has too much on its way.
 */
export function bodyReader(limit: number): ReadBody {
  const arriving = new MemoryBudget();
  return async (request, response, workspaceId) => {
    requireJson(request);
    const length = request.headers['content-length'] ?? null;
    const waits = request.headers.expect !== undefined && request.httpVersionMinor > 0;
    if (waits && Number(length) <= limit) response.writeContinue();
    let held = 0;
    const hold = (chunk: Buffer) => {
      const cost = chunk.length + COST_OF_A_PIECE;
      held += cost;
      arriving.reserve(workspaceId, cost);
      if (arriving.isExhausted(workspaceId)) request.emit('error', TOO_MUCH_ARRIVES);
    };
    const release = () => {
      request.off('data', hold);
      arriving.reserve(workspaceId, -held);
      held = 0;
    };
    request.on('data', hold);
    // Nobody else may be listening: raw-body does not to what it refuses, and lets go of the rest when it has settled.
    request.on('error', () => undefined);
    // Where the request was answered meanwhile, raw-body is told of no end, and never settles.
    response.once('close', release);
    const bytes = await rawBody(request, { limit, length })
      .catch((error: RawBodyError | HttpError) => {
        response.shouldKeepAlive = false;
        request.resume();
        if (error instanceof HttpError) throw error;
        throw new HttpError(
          'bad_request',
          error.type === 'entity.too.large' ? `The request body ${describeTooLongBody(limit)}.` : NOT_WHOLE,
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
      'The body must be JSON: send it with "Content-Type: application/json", in UTF-8.',
    );
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new HttpError('bad_request', 'The body must not be compressed: send it without Content-Encoding.');
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

const NOT_WHOLE = 'The body did not arrive whole: send it again.';

function parseJson(bytes: Uint8Array): object {
  if (bytes.length === 0) throw new HttpError('bad_request', 'The body must not be empty: send a JSON object.');
  try {
    return readJson(bytes);
  } catch (error) {
    throw error instanceof MalformedBody ? new HttpError('bad_request', error.message) : error;
  }
}

/** A hash that two JSON values share when they are the same value, in whatever order their names came. */
export function fingerprint(value: unknown): string {
  const ordered = (_: string, inner: unknown): unknown =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner;
  return createHash('sha256').update(JSON.stringify(value, ordered)).digest('hex');
}
