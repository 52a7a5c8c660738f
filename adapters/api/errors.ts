/** An error code: its status, what it means, what causes it here, and what its caller can do. In Markdown's `code`. */
interface ErrorDocumentation {
  readonly status: number;
  readonly meaning: string;
  readonly causes: readonly string[];
  readonly remedy: string;
  /** A message that stands for all. */
  readonly example: string;
}

/** The codes of the error object (specification: Errors). */
export const errors = {
  bad_request: {
    status: 400,
    meaning: 'The request cannot be read.',
    causes: [
      'The body of a POST or PATCH is missing, is no JSON object, is broken JSON, begins with a byte-order mark, or is no valid UTF-8.',
      'Its `Content-Type` is not `application/json` or names another charset than UTF-8, it is compressed, or it is larger than the service takes (1 MiB by default).',
      'The path or the query has a percent-encoding that cannot be decoded.',
      '`Idempotency-Key` is empty, longer than 255 characters, or has a space or a character outside of ASCII.',
      'Two `Authorization` headers were sent, `Host` is missing, `Expect` is another than `100-continue`, or the request is no valid HTTP/1.1.',
    ],
    remedy: 'Mend what the message names. Sending the same request again gets the same answer.',
    example: 'The body cannot be read: it is no valid JSON.',
  },
  unauthorized: {
    status: 401,
    meaning: 'No valid key was sent.',
    causes: [
      'There is no `Authorization` header, or its scheme is not `Bearer`.',
      'The key is misspelt or cut off, was revoked, or has ended.',
      'The key belongs to another installation: the key of a demo is another one at each start.',
    ],
    remedy:
      'Send `Authorization: Bearer <API_KEY>` with the whole key. Who runs the service can make a new one; a lost key cannot be shown again.',
    example: 'No key was sent: send one as "Authorization: Bearer <API_KEY>".',
  },
  forbidden: {
    status: 403,
    meaning: 'The key is valid, and may not do this.',
    causes: [
      'A write (POST, PATCH or DELETE) with a key of `read` access.',
      'A write with the key of a member whose role is not `admin`.',
      'The invitation of the member who holds the key is still pending; then reads are refused too.',
    ],
    remedy: 'Use the key of an admin with full access, or accept the invitation first.',
    example: 'This key has read access: use one with full access.',
  },
  not_found: {
    status: 404,
    meaning: 'There is nothing here.',
    causes: [
      'No record of the workspace has this id: it is unknown, malformed, or was deleted. A record of another workspace looks the same.',
      'No operation has this path and method. Paths are case-sensitive.',
    ],
    remedy:
      'Take the id from a list or from the answer that made the record, and compare path and method with the reference.',
    example: 'There is no campaign with this id in the workspace.',
  },
  conflict: {
    status: 409,
    meaning: 'The request does not fit what is there.',
    causes: [
      'The workspace has a tag or a group of this name, whatever the case.',
      'The workspace has a domain of this slug, and `archived` was not sent; or another workspace has verified it.',
      'A request with the same `Idempotency-Key` is still being served.',
      'Too many changed the same record at the same moment. Nothing was changed.',
    ],
    remedy:
      'Choose another name, or use the record that has it. Where the message says so, send the same request again in a moment.',
    example: 'The workspace has a tag of this name.',
  },
  invite_expired: {
    status: 410,
    meaning: 'The invitation is over.',
    causes: ['The invitation of the member who holds the key expired before it was accepted.'],
    remedy: 'Ask an admin of the workspace for a new invitation. Trying again does not help.',
    example: 'The invitation of the member who holds this key expired before it was accepted: ask for a new one.',
  },
  unprocessable_entity: {
    status: 422,
    meaning: 'The request can be read, and something in it is not allowed.',
    causes: [
      'A field of the body or a parameter of the query is missing, unknown, of another type, or out of its bounds.',
      'The body has more than 1,000 names, objects and arrays.',
      'The query of a list is too long (more than about 7,500 characters) to be repeated in the `Link` to the next page.',
      'A search, a filter by dates, or a page with a high number takes too long in a very large workspace. Add more filters.',
      'A campaign ends before it starts.',
      'A tag, group, content pillar or domain that was named is not one of the workspace, or is archived.',
      'An `Idempotency-Key` was used before with another body.',
    ],
    remedy:
      'The message names each field, ten at most, as `path: what is wrong`, joined by `; `. Mend all of them, and send it again.',
    example: 'colour: is unknown, allowed are name; name: must not contain a comma',
  },
  rate_limit_exceeded: {
    status: 429,
    meaning: 'Too many requests.',
    causes: [
      'The key has made more requests in the window than it may (600 a minute by default).',
      'The address has sent more refused keys than it may (60 a minute by default). A valid key is still served.',
      'The service has more to do than it can, and refuses what comes on top.',
      'Bodies of the workspace that come slowly, or replies to it that are not read, take more memory than they may.',
    ],
    remedy:
      'Wait as many seconds as `Retry-After` says, and try again. `RateLimit` and `X-RateLimit-Remaining` of each answer tell what is left.',
    example: 'Too many requests with this key: at most 600 in 60 seconds. Try again in 42 seconds.',
  },
  internal_server_error: {
    status: 500,
    meaning: 'Something is wrong with the service, not with the request.',
    causes: ['Its storage is away.', 'A fault that nobody foresaw.'],
    remedy:
      'Try again after a moment: a POST with the same `Idempotency-Key`, so that it is done once. If it stays, tell who runs the service the `X-Request-Id` of the answer.',
    example: 'Something went wrong here: try again, and tell us the X-Request-Id if it stays.',
  },
} as const satisfies Record<string, ErrorDocumentation>;

export type ErrorCode = keyof typeof errors;

export const errorCodes = Object.keys(errors) as ErrorCode[];

/** Where a code is explained, below the address of the documentation. */
export function getErrorAnchor(code: ErrorCode): string {
  return code.replaceAll('_', '-');
}
