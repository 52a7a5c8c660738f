/**
 * The maximum number of connections to each server of a database. As many requests run at the same time: with more,
 * requests would wait for a connection, in no fair order.
 */
export const MAX_CONNECTION_COUNT = 50;
