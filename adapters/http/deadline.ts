/** The time that some works may take together; what lies between them does not count. */
export class Deadline {
  constructor(private milliseconds: number) {}

  /** Settles as the work does, or rejects when the time is over: the work then goes on, for nobody. */
  async run<T>(work: Promise<T>): Promise<T> {
    const startedAt = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('The storage took too long.')), Math.max(0, this.milliseconds));
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
      this.milliseconds -= performance.now() - startedAt;
    }
  }
}
