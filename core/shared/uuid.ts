const UUID_PATTERN =
  /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|00000000-0000-0000-0000-000000000000|ffffffff-ffff-ffff-ffff-ffffffffffff)$/i;

/** Returns whether a text is a UUID (RFC 9562), in upper or lower case: version 1 to 8 with variant 8, 9, a or b, or nil or max UUID. */
export function isUuid(value: string): boolean {
  return UUID_PATTERN.test(value);
}
