/** The number of hashes for each character of a text of average length. About two of three bits stay clear. */
const SLOT_COUNT_PER_CHARACTER = 2;
const MIN_SLOT_COUNT = 256;

/**
 * Finds the texts that may contain a term without a scan of the texts. For each hash of three characters, it has one bit for
 * each text that contains them (bit-sliced signatures). It never excludes a text that contains the term.
 */
export class Trigrams {
  private readonly wordCount: number;
  private readonly slotCount: number;
  private readonly bits: Uint32Array;

  constructor(texts: readonly string[]) {
    const characters = texts.reduce((sum, { length }) => sum + length, 0);
    const wanted = Math.max(MIN_SLOT_COUNT, (SLOT_COUNT_PER_CHARACTER * characters) / texts.length);
    this.slotCount = 2 ** Math.ceil(Math.log2(wanted));
    this.wordCount = Math.ceil(texts.length / 32);
    this.bits = new Uint32Array(this.slotCount * this.wordCount);
    for (const [i, text] of texts.entries()) {
      for (let at = 0; at + 2 < text.length; at++) {
        const word = this.getSlot(text, at) * this.wordCount + (i >>> 5);
        this.bits[word] = (this.bits[word] as number) | (1 << (i & 31));
      }
    }
  }

  /** Returns a bit for each text: set if the text may contain the term. Bits are in words of 32, lowest bit first. */
  mayContain(term: string): Uint32Array {
    const found = new Uint32Array(this.wordCount).fill(0xffffffff);
    for (let at = 0; at + 2 < term.length; at++) {
      const slot = this.getSlot(term, at) * this.wordCount;
      for (let i = 0; i < this.wordCount; i++) found[i] = (found[i] as number) & (this.bits[slot + i] as number);
    }
    return found;
  }

  private getSlot(text: string, at: number): number {
    const characters =
      text.charCodeAt(at) + Math.imul(text.charCodeAt(at + 1), 0x1f35) + Math.imul(text.charCodeAt(at + 2), 0x3a8f05);
    return (Math.imul(characters, 0x9e3779b1) >>> 7) & (this.slotCount - 1);
  }
}

const pendingWork: (() => unknown)[] = [];

/** Runs one piece of work in each iteration of the event loop, so that requests do not wait for all of them. */
export function runInOwnIteration(work: () => unknown): void {
  pendingWork.push(work);
  if (pendingWork.length === 1) setImmediate(runNext);
}

function runNext(): void {
  pendingWork[0]?.();
  pendingWork.shift();
  if (pendingWork.length > 0) setImmediate(runNext);
}
