// The limits that apply unless the operator sets others (bootstrap/settings.ts). The documentation of the API states
// them.

/** The maximum size of a request body. */
export const DEFAULT_BODY_LIMIT_BYTES = 2 ** 20;
/** The maximum number of requests of a key per rate limit window. */
export const DEFAULT_REQUEST_LIMIT = 600;
/** The length of the rate limit window. The documentation calls it a minute. */
export const DEFAULT_WINDOW_SECONDS = 60;
/** The maximum number of rejected credentials of a client address per minute. */
export const DEFAULT_REJECTED_CREDENTIAL_LIMIT = 60;
