/** The maximum time of a call of the storage with its retries, in milliseconds. After this time, callers give up. */
export const STORAGE_TIMEOUT_MS = 10_000;
