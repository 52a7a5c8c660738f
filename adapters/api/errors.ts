import {
  DEFAULT_BODY_LIMIT_BYTES,
  DEFAULT_REJECTED_CREDENTIAL_LIMIT,
  DEFAULT_REQUEST_LIMIT,
  DEFAULT_WINDOW_SECONDS,
  IDEMPOTENCY_KEY_LENGTH,
  MAX_KEY_COUNT_PER_MEMBER,
  MAX_KEY_COUNT_WITHOUT_MEMBER,
  MAX_WEBHOOK_COUNT,
} from '../../core/limits.ts';
import type { CoreErrorKind } from '../../core/shared/core-error.ts';

/** An error code: its status, and its documentation, which may contain code in backticks (Markdown). */
interface ErrorDeclaration {
  readonly status: number;
  /** The kind of core error that has this code. */
  readonly kind?: CoreErrorKind;
  readonly meaning: string;
  /**
   * The causes that a program can act on, each with its solution. `doc_url` leads to the section of the cause in the
   * documentation. The names never change (docs/stability.md).
   */
  readonly causes: Readonly<Record<string, string>>;
  readonly otherCauses: readonly string[];
  readonly remedy: string;
  /** A typical message. */
  readonly example: string;
}

/** The error codes of the API with their documentation, in the order of their statuses. */
export const errors = {
  bad_request: {
    status: 400,
    meaning: 'The request is malformed.',
    causes: {
      body_too_large: `The body is larger than the maximum size (${DEFAULT_BODY_LIMIT_BYTES / 2 ** 20} MiB by default). Send a smaller body.`,
      too_slow: 'The headers or the body arrived too slowly. Send the request again, all of it at once.',
    },
    otherCauses: [
      'The body of a POST or PATCH is missing or is not a JSON object in valid UTF-8. A byte-order mark is not allowed. If all fields are optional, send `{}`. Operations without a documented body need none.',
      'The `Content-Type` is not `application/json`, or its charset is not UTF-8.',
      'The body is compressed.',
      'The path or the query contains percent-encoding that cannot be decoded.',
      `The \`Idempotency-Key\` is empty, longer than ${IDEMPOTENCY_KEY_LENGTH.max} characters, or contains a space or a non-ASCII character.`,
      'The request has two `Authorization` headers, no `Host` header, or an `Expect` header other than `100-continue`.',
      'The request is not valid HTTP/1.1 or is incomplete.',
      'The body of `POST /mcp` is not one message of the Model Context Protocol, or its query names an unknown section.',
    ],
    remedy:
      'Fix the problem that the message describes. If the response has `Retry-After`, the same request can succeed: retry it after that many seconds.',
    example: 'The request body is not valid JSON.',
  },
  unauthorized: {
    status: 401,
    kind: 'unauthenticated',
    meaning: 'The request has no valid API key.',
    causes: {},
    otherCauses: [
      'The `Authorization` header is missing, or its scheme is not `Bearer`.',
      'The API key is misspelled, incomplete, revoked or expired.',
      'The API key belongs to another installation. With `STORAGE=memory` and without `DEMO_API_KEY`, the demo creates a new key at each start.',
    ],
    remedy:
      'Send `Authorization: Bearer <API_KEY>` with the complete key. A lost key cannot be shown again: rotate it with another key, or ask the operator of the service for a new one.',
    example: 'No API key. Send `Authorization: Bearer <API_KEY>`.',
  },
  forbidden: {
    status: 403,
    kind: 'forbidden',
    meaning: 'The API key is valid but does not have access to this operation.',
    causes: {
      read_only_key:
        'The request is a write (POST, PATCH or DELETE), and the key has `read` access. Use a key with `full` access.',
      key_without_member: 'The operation needs a member, and the key does not belong to one. Use the key of a member.',
      not_admin:
        'The role of the member that the key belongs to is `member`. This role can share campaigns, and read everything except members, API keys, events and webhooks. Use the key of an admin, or a key without a member.',
      key_outlives_yours:
        'The API key to rotate expires later than the key of the request. Use a key that expires as late, or that does not expire.',
      invitation_pending:
        'The invitation of the member that the key belongs to is pending. Then reads are rejected, too. Accept the invitation with `POST /me/accept`.',
    },
    otherCauses: ['A request to `POST /mcp` has an `Origin` header, as requests of web pages do.'],
    remedy: 'Use an API key with the access, the member and the role that the operation requires.',
    example: 'This API key has read access. Use a key with full access.',
  },
  not_found: {
    status: 404,
    kind: 'not_found',
    meaning: 'The record or the operation does not exist.',
    causes: {},
    otherCauses: [
      'The workspace has no record with this ID. The response is the same for an unknown, malformed or deleted ID, and for the ID of a record in another workspace.',
      'No operation has this path and method. Paths are case-sensitive.',
    ],
    remedy:
      'Compare the path and the method with the API reference. Use an ID from a list or from the response to the request that created the record.',
    example: 'No such campaign in this workspace. Check the ID.',
  },
  conflict: {
    status: 409,
    kind: 'conflict',
    meaning: 'The request conflicts with the current state of the workspace. It changed nothing.',
    causes: {
      name_taken:
        'A tag or a group with this name already exists. Names are compared case-insensitively. Choose another name, or use the existing record.',
      email_taken:
        'A member with this email address already exists. Addresses are compared case-insensitively. Use another address, or update the existing member.',
      invitation_accepted:
        'The member has accepted the invitation, so it cannot become `pending` or `expired`. Delete the member instead.',
      last_admin:
        'The member is the last admin with an accepted invitation. Give another member the role `admin` first.',
      domain_taken:
        'Your workspace already has a domain with this slug, which may be archived. Use that domain: find it with `GET /domains?includeArchived=true&search=…`. To unarchive it, send the POST again with `"archived": false`.',
      domain_verified_elsewhere:
        'Another workspace has verified a domain with this slug, and has not archived it. Use another domain, or ask the other workspace to archive its domain.',
      domain_archived: 'The domain to verify is archived. Unarchive it first.',
      too_many_keys: `The member has ${MAX_KEY_COUNT_PER_MEMBER} API keys, or the workspace has ${MAX_KEY_COUNT_WITHOUT_MEMBER} without a member. Delete a key that is not used.`,
      too_many_webhooks: `The workspace has ${MAX_WEBHOOK_COUNT} webhooks. Delete a webhook that is not used.`,
      key_ended: 'The API key to rotate is deleted, expired or rotated already. Create a new key.',
      already_created:
        'The request with this `Idempotency-Key` succeeded, and its response had a secret, which is not stored. The message has the ID of the record and says how to get a new secret.',
      status_transition:
        'The status of a campaign cannot change this way, such as `archived` to `draft`. Choose a status that the message allows.',
      campaign_not_running:
        'The campaign to share is not published, has not started, or has ended. Publish it, or wait for its start. Its end can be changed with `PATCH /campaigns/{id}`.',
      not_draft: 'The campaign to delete is published or archived. Archive a published campaign instead.',
      concurrent_changes: 'Too many requests changed the same record at the same time. Retry the request.',
      idempotency_key_in_use: 'The first request with this `Idempotency-Key` is still in progress. Retry the request.',
    },
    otherCauses: [],
    remedy: 'If the response has `Retry-After`, retry after that many seconds. Otherwise, the cause says what to do.',
    example: 'This workspace already has a tag with this name. Choose another name.',
  },
  invite_expired: {
    status: 410,
    kind: 'invitation_expired',
    meaning: 'The invitation has expired.',
    causes: {},
    otherCauses: [
      'The key belongs to a member who did not accept the invitation in time, or whose invitation an admin ended.',
    ],
    remedy: 'Ask an admin of the workspace to renew the invitation. Retrying does not help.',
    example: "The invitation of this key's member has expired. Ask an admin of the workspace to renew it.",
  },
  unprocessable_entity: {
    status: 422,
    kind: 'invalid',
    meaning: 'The request is well-formed, but at least one value is invalid.',
    causes: {
      idempotency_key_reused:
        'The `Idempotency-Key` was already used with another path or body. Send a new value with each new request.',
      list_too_slow:
        'A search, a filter by dates, or a page with a high number takes too long in a very large workspace. Add filters, or request an earlier page.',
    },
    otherCauses: [
      'A field of the body or a query parameter is missing or unknown, has the wrong type, or is out of range.',
      'The body has more than 1,000 field names, objects and arrays together.',
      'The query of a list is too long for the links to other pages (more than about 7,500 characters).',
      'The end date of a campaign is before its start date.',
      'A referenced tag, group, content pillar or domain does not exist in the workspace.',
      'A referenced content pillar or domain is archived.',
    ],
    remedy:
      'Fix the problem that the message describes, then send the request again. If fields are invalid, the message lists up to ten of them as `field: problem`, and the number of others, separated by `; `.',
    example: 'colour: unknown field, allowed fields: name; name: must not contain a comma',
  },
  rate_limit_exceeded: {
    status: 429,
    kind: 'busy',
    meaning: 'Too many requests.',
    causes: {
      rejected_credentials: `Your address sent too many invalid API keys (${DEFAULT_REJECTED_CREDENTIAL_LIMIT} per minute by default). Use a valid key: its requests still succeed.`,
      overload:
        'The service has too many requests, or clients with keys of your workspace send bodies or read responses too slowly. Send fewer requests at the same time.',
      verifications_busy: 'Too many domains are being verified at the same time. Retry the request.',
    },
    otherCauses: [`The key exceeded its rate limit (${DEFAULT_REQUEST_LIMIT} requests per minute by default).`],
    remedy:
      'Wait for the number of seconds in `Retry-After`, then retry. To stay below the limit, read `RateLimit` or `X-RateLimit-Remaining` of each response.',
    example: `Too many requests with this key: at most ${DEFAULT_REQUEST_LIMIT} in ${DEFAULT_WINDOW_SECONDS} seconds. Retry in 42 seconds.`,
  },
  internal_server_error: {
    status: 500,
    meaning: 'The service failed.',
    causes: {},
    otherCauses: ['The storage is unavailable.', 'An unexpected error occurred.'],
    remedy:
      'If the response has `Retry-After`, the storage is unavailable: retry after that many seconds. Send a POST with the same `Idempotency-Key`, so that it takes effect only once. If the problem persists, send the `X-Request-Id` of the response to the operator of the service.',
    example: 'Internal error. Retry the request. If it fails again, report the X-Request-Id.',
  },
} as const satisfies Record<string, ErrorDeclaration>;

export type ErrorCode = keyof typeof errors;

/** The name of a cause with a section of its own. */
export type ErrorCauseName = { [C in ErrorCode]: keyof (typeof errors)[C]['causes'] }[ErrorCode];

export const errorCodes = Object.keys(errors) as ErrorCode[];

type KindWithCode = Extract<(typeof errors)[ErrorCode], { readonly kind: CoreErrorKind }>['kind'];

const codes = Object.fromEntries(
  Object.entries(errors).flatMap(([code, error]) => ('kind' in error ? [[error.kind, code]] : [])),
) as Readonly<Record<KindWithCode, ErrorCode>>;

/** Returns the error code of a kind of core error. If a kind has no error code, this function does not compile. */
export function getErrorCode(kind: CoreErrorKind): ErrorCode {
  return codes[kind];
}

/** Returns the anchor of an error code, or of one of its causes, on the error page of the documentation. */
export function getErrorAnchor(code: ErrorCode, causeName?: ErrorCauseName): string {
  return (causeName ? `${code}-${causeName}` : code).replaceAll('_', '-');
}

/** Returns the anchors of the causes of an error code that have one, each with the text about the cause. */
export function getErrorCauses(code: ErrorCode): [anchor: string, text: string][] {
  return Object.entries(errors[code].causes).map(([name, text]) => [
    getErrorAnchor(code, name as ErrorCauseName),
    text,
  ]);
}
