import { operations } from '../api/operations.ts';

const MAX_PATH_LENGTH = 200;

/**
 * Returns a path for the log. Replaces each segment that is long enough to be an API key. Keeps UUIDs, and segments of
 * the paths of operations. Truncates long paths. No character needs escaping, because Node's parser accepts only
 * visible ASCII in a path.
 */
export function redactPath(path: string): string | undefined {
  // The target of CONNECT is not a path, and may contain a password.
  if (!path.startsWith('/') && path !== '*') return undefined;
  const safe = path.replace(/[^/]{20,}/g, (segment) =>
    RECORD_ID.test(segment) || KNOWN_SEGMENTS.has(segment) ? segment : '[redacted]',
  );
  return safe.length > MAX_PATH_LENGTH ? `${safe.slice(0, MAX_PATH_LENGTH)}…` : safe;
}

const RECORD_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const KNOWN_SEGMENTS = new Set(operations.flatMap(({ path }) => path.split('/')));
