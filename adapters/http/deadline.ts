/** The time that several steps of a request may take together. The time between these steps does not count. */
export class Deadline {
  constructor(private remainingMs: number) {}

  /** Settles like `work`, or rejects when the time is used up. The work then continues, and its result is discarded. */
  async run<T>(work: Promise<T>): Promise<T> {
    const startedAt = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error('The storage did not respond before the deadline of the request.')),
        Math.max(0, this.remainingMs),
      );
    });
    try {
      return await Promise.race([work, timeout]);
    } finally {
      clearTimeout(timer);
      this.remainingMs -= performance.now() - startedAt;
    }
  }
}
