import type { IncomingMessage, ServerResponse } from 'node:http';
import { MIMEType } from 'node:util';
import { MalformedBody, readJson } from '../api/json-body.ts';
import { HttpError } from './errors.ts';
import type { Protection } from './protection/protection.ts';
import { getHeaderValues } from './request-framing.ts';

/** Reads a request body as a JSON object. Rejects with an `HttpError`, or with a `CoreError` of the kind `invalid`. */
export type ReadBody = (request: IncomingMessage, response: ServerResponse, workspaceId: string) => Promise<object>;

/** The memory that a chunk of a body takes in addition to its bytes. */
const CHUNK_OVERHEAD_BYTES = 700;

const MAX_CONTENT_TYPE_LENGTH = 255;

const INCOMPLETE_ERROR = new HttpError('bad_request', 'The request body is incomplete. Send all of it.');

/**
 * Returns a function that reads a JSON object in UTF-8. The function rejects if the body has more than `limitBytes`
 * bytes, or if the workspace uses too much memory. If it does so before the body has arrived completely, the connection
 * closes after the response.
 */
export function createBodyReader(limitBytes: number, protection: Protection): ReadBody {
  const { memory } = protection;
  const tooLargeMessage = `The request body is too large. Send at most ${limitBytes} bytes.`;
  const tooLongError = new HttpError('bad_request', tooLargeMessage, 'body_too_large');
  const readBody: ReadBody = async (request, response, workspaceId) => {
    requireJson(request);
    const isTooLong = Number(request.headers['content-length'] ?? 0) > limitBytes;
    const expectsContinue = request.headers.expect !== undefined && request.httpVersionMinor > 0;
    if (expectsContinue && !isTooLong) response.writeContinue();
    const chunks: Buffer[] = [];
    let length = 0;
    const getReservedBytes = () => length + chunks.length * CHUNK_OVERHEAD_BYTES;
    try {
      await new Promise<void>((resolve, reject) => {
        if (isTooLong) throw tooLongError;
        request.on('data', (chunk: Buffer) => {
          length += chunk.length;
          chunks.push(chunk);
          memory.reserve(workspaceId, chunk.length + CHUNK_OVERHEAD_BYTES);
          const error = length > limitBytes ? tooLongError : memory.findError(workspaceId);
          if (error) reject(error);
        });
        request.once('end', resolve).on('error', () => reject(INCOMPLETE_ERROR));
        // If the response is sent before the body is complete, the request gets no event.
        response.once('close', () => reject(INCOMPLETE_ERROR));
      });
      return parseJson(Buffer.concat(chunks, length));
    } catch (error) {
      if (!request.complete) response.shouldKeepAlive = false;
      throw error;
    } finally {
      request.removeAllListeners('data').resume();
      memory.reserve(workspaceId, -getReservedBytes());
    }
  };
  return (request, response, workspaceId) =>
    protection.awaitOutsideInFlightCount(response, readBody(request, response, workspaceId));
}

function requireJson(request: IncomingMessage): void {
  const { 'content-type': type, 'content-encoding': encoding } = request.headers;
  if (new Set(getHeaderValues(request, 'content-type')).size > 1 || (type !== 'application/json' && !isJson(type))) {
    throw new HttpError(
      'bad_request',
      'The request body must be JSON in UTF-8. Send one `Content-Type: application/json`.',
    );
  }
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new HttpError('bad_request', 'The request body must not be compressed. Send it without Content-Encoding.');
  }
}

function isJson(type: string | undefined): boolean {
  // `MIMEType` takes time that is quadratic in the length.
  if (type === undefined || type.length > MAX_CONTENT_TYPE_LENGTH) return false;
  try {
    const { essence, params } = new MIMEType(type);
    const charsetCount = type.match(/;\s*charset\s*=/gi)?.length ?? 0;
    const charset = params.get('charset')?.toLowerCase() ?? '';
    return essence === 'application/json' && (charsetCount === 0 || (charsetCount === 1 && /^utf-?8$/.test(charset)));
  } catch {
    return false;
  }
}

function parseJson(bytes: Uint8Array): object {
  if (bytes.length === 0) throw new HttpError('bad_request', 'The request body must not be empty. Send a JSON object.');
  try {
    return readJson(bytes);
  } catch (error) {
    throw error instanceof MalformedBody ? new HttpError('bad_request', `The request body ${error.problem}.`) : error;
  }
}
