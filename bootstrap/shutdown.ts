// A graceful shutdown of a server begins with a signal. docs/operating.md describes it for operators.

/** The time for which the server still accepts connections, so that a load balancer notices that the server is not ready. */
export const READINESS_DELAY_MS = 1_000;

/** The time after the signal at which the server closes the connections that are still open. */
export const SHUTDOWN_TIMEOUT_MS = 10_000;

/** The maximum time, within `SHUTDOWN_TIMEOUT_MS`, to wait until `lastUsedAt` of the API keys is stored. */
export const FLUSH_TIMEOUT_MS = 2_000;

/** The time after the signal at which the primary process kills the workers that still run. */
export const WORKER_STOP_TIMEOUT_MS = SHUTDOWN_TIMEOUT_MS + 1_000;

/** The maximum time that the primary process waits for the exit of a worker that it has killed. */
export const WORKER_KILL_TIMEOUT_MS = 1_000;

/**
 * The maximum time for which a command waits until the database is closed. Closing waits for pending changes, such as those of an
 * interrupted import.
 */
export const CLOSE_TIMEOUT_MS = 1_000;
