// All limits of the API, and the defaults that apply to a request or that an operator can change. The default value of
// a field is in the factory of its entity.

// Lengths of texts, in characters (Unicode code points).

/** The name of a campaign, a group, a member, a tag or a workspace. */
export const NAME_LENGTH = { min: 1, max: 190 };
/** The long texts of a campaign, and the description of a group or an inspiration question. */
export const DESCRIPTION_LENGTH = { max: 5000 };
export const URL_LENGTH = { max: 2048 };
export const SEARCH_TERM_LENGTH = { max: 200 };
export const EMAIL_LENGTH = { min: 3, max: 254 };
/** The label of an API key or of a webhook. */
export const LABEL_LENGTH = { max: 190 };
/** The MIME type and the language of a resource. */
export const RESOURCE_LABEL_LENGTH = { max: 255 };
export const QUESTION_LENGTH = { min: 10, max: 170 };
export const CONTENT_PILLAR_TITLE_LENGTH = { min: 1, max: 100 };
export const CONTENT_PILLAR_DESCRIPTION_LENGTH = { max: 1500 };
export const IDEMPOTENCY_KEY_LENGTH = { min: 1, max: 255 };
/** The normalized name of a domain. */
export const MAX_SLUG_LENGTH = 190;
/** A text to convert into a slug. The conversion of longer texts would be slow. */
export const MAX_SLUG_INPUT_LENGTH = 255;

// Counts.

export const MAX_RESOURCE_COUNT = 50;
/** Distinct items of a list in a request, such as the IDs of tags. */
export const MAX_ITEM_COUNT = 100;
// API keys that are not revoked, expired or rotated.
export const MAX_KEY_COUNT_WITHOUT_MEMBER = 100;
export const MAX_KEY_COUNT_PER_MEMBER = 10;
/** The webhooks of a workspace. */
export const MAX_WEBHOOK_COUNT = 10;

/** Days of a request for analytics. */
export const DEFAULT_ANALYTICS_DAYS = 30;
export const MAX_ANALYTICS_DAYS = 366;

// Items of a page.

/** The default of all lists except campaigns and domains, whose default is their maximum. */
export const DEFAULT_PAGE_SIZE = 50;
/** The maximum of all lists except the following ones. */
export const MAX_PAGE_SIZE = 100;
export const MAX_ANALYTICS_PAGE_SIZE = 366;
export const MAX_CAMPAIGN_PAGE_SIZE = 25;
export const MAX_DOMAIN_PAGE_SIZE = 50;

// Times.

/** How long an invitation is pending by default, and at most. */
export const DEFAULT_INVITATION_DAYS = 14;
export const MAX_INVITATION_DAYS = 365;
/** How long a stored response can be replayed. */
export const RESPONSE_TTL_HOURS = 24;
export const RESPONSE_TTL_MS = RESPONSE_TTL_HOURS * 60 * 60_000;
/**
 * How long a request stays locked if its process crashes: at most 30 seconds (docs/reliability.md). Each process only
 * estimates the time of the storage, so one second is left for the differences between these estimates.
 */
export const LOCK_TTL_MS = 29_000;
/** How long an event is kept. */
export const EVENT_TTL_DAYS = 30;
export const EVENT_TTL_MS = EVENT_TTL_DAYS * 24 * 60 * 60_000;
/** How long an attempt to deliver an event may take. */
export const WEBHOOK_TIMEOUT_MS = 15_000;
/** How long an attempt keeps others from starting if its process crashes. */
export const WEBHOOK_LEASE_MS = 30_000;
/** How long a rotated API key still works. */
export const DEFAULT_GRACE_SECONDS = 24 * 60 * 60;
export const MAX_GRACE_SECONDS = 7 * 24 * 60 * 60;
/** The minimum time between two writes of the last use of an API key. */
export const MIN_LAST_USED_INTERVAL_MS = 60_000;
/** The time after a click in which further visits of the same visitor to the same link do not count. */
export const MIN_CLICK_INTERVAL_MS = 60 * 60_000;
/**
 * How long a click checkpoint is kept. Within this time, a batch whose outcome is unknown can be sent again without
 * being counted twice.
 */
export const CLICK_CHECKPOINT_TTL_MS = 7 * 24 * 60 * 60_000;
/**
 * The limits of the lookups that verify domains: how many run at a time in a process, and how long each waits for
 * others and then for the name servers. So 30 lookups that begin together all have an outcome, even if no name server
 * answers.
 */
export const LOOKUP_LIMITS = { maxCount: 10, maxWaitMs: 12_000, timeoutMs: 5_000 };

// Defaults of settings (bootstrap/settings.ts).

export const DEFAULT_BODY_LIMIT_BYTES = 2 ** 20;
/** Requests of a key per rate limit window. */
export const DEFAULT_REQUEST_LIMIT = 600;
/** The length of the rate limit window. The documentation calls it a minute. */
export const DEFAULT_WINDOW_SECONDS = 60;
/** Rejected credentials of a client address per minute. */
export const DEFAULT_REJECTED_CREDENTIAL_LIMIT = 60;
