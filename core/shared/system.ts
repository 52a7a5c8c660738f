export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The functions of the runtime that the core needs: the clock of the process, random values, hashes and pauses. */
export interface System extends Clock {
  /** Returns a new UUID version 7 (RFC 9562) in lower case. It is greater than all previous IDs of this process. */
  newId(): string;
  /** Returns random characters of `BASE62` (base62.ts), which nobody can guess. */
  newRandomText(length: number): string;
  /** Returns the SHA-256 hash of a text, in hexadecimal. */
  sha256(text: string): string;
  /** Lets the process handle other requests, before a long computation goes on. */
  pause(): Promise<void>;
}
