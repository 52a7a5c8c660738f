/** What the core needs of the machine that it runs on. */
export interface System {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds of a monotonic clock, for durations. */
  elapsed(): number;
  /** A new UUID version 7 (RFC 9562) in lower case, above every one that this process made before. */
  newId(): string;
  /** 32 random characters of base62 (0-9A-Za-z). */
  newSecret(): string;
  /** SHA-256 of a text, in hexadecimal. */
  sha256(text: string): string;
  /** The Unicode form of a domain name in its ASCII form (IDNA, UTS #46). */
  toUnicode(slug: string): string;
  /** The one key that needs no checksum: the demo workspace's, where the operator chose it. */
  readonly demoApiKey?: string | undefined;
}
