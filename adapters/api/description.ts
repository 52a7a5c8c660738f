import type { Permission } from '../../core/access/permissions.ts';
import type { Operation } from './operation.ts';

/** Sentences on the API keys that have a permission. The guide explains `read` and `write`, which are not here. */
const requirements: { readonly [P in Permission]?: string } = {
  inspect: 'Requires an API key without a member, or of an admin.',
  author: 'Requires an API key of an admin, with full access.',
  share: 'Requires an API key of a member of any role, with full access.',
  accept: 'Requires an API key of a member of any role, with any access.',
  readOwn: 'Requires an API key of a member of any role, with any access.',
};

/**
 * Returns the description of an operation for callers with an API key. It has the declared sentences, and those that
 * follow from the rest of the declaration.
 */
export function getDescription(operation: Operation): string {
  const { method, description, permission, query, body, externalTimeoutMs, lostSecretRemedy } = operation;
  return [
    ...description,
    requirements[permission],
    lostSecretRemedy &&
      'If the request is repeated with its `Idempotency-Key`, the response is an error with the ID of the record (409).',
    externalTimeoutMs > 0 && 'To run it again, send a new `Idempotency-Key` or none.',
    method === 'POST' && !body && 'A request body is ignored.',
    'pageSize' in query.shape && 'Follow the `Link` header to get the other pages.',
  ]
    .filter(Boolean)
    .join(' ');
}
