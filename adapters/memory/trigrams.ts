/** So many hashes for each character of a text of average length: about two of three bits stay clear. */
const SLOTS_PER_CHARACTER = 2;
const LEAST_SLOTS = 256;

/**
 * Tells which of some texts can have a term in them, without a look at any: for each hash of three characters it has one bit
 * for each text that has them (signatures, sliced by their bits). It never leaves out a text that has the term.
 */
export class Trigrams {
  private readonly words: number;
  private readonly slots: number;
  private readonly bits: Uint32Array;

  constructor(texts: readonly string[]) {
    const characters = texts.reduce((sum, { length }) => sum + length, 0);
    const wanted = Math.max(LEAST_SLOTS, (SLOTS_PER_CHARACTER * characters) / texts.length);
    this.slots = 2 ** Math.ceil(Math.log2(wanted));
    this.words = Math.ceil(texts.length / 32);
    this.bits = new Uint32Array(this.slots * this.words);
    for (const [i, text] of texts.entries()) {
      for (let at = 0; at + 2 < text.length; at++) {
        const word = this.slotOf(text, at) * this.words + (i >>> 5);
        this.bits[word] = (this.bits[word] as number) | (1 << (i & 31));
      }
    }
  }

  /** A bit for each text, in words of 32, the first text in the lowest: set where the text may have the term in it. */
  mayContain(term: string): Uint32Array {
    const found = new Uint32Array(this.words).fill(0xffffffff);
    for (let at = 0; at + 2 < term.length; at++) {
      const slot = this.slotOf(term, at) * this.words;
      for (let i = 0; i < this.words; i++) found[i] = (found[i] as number) & (this.bits[slot + i] as number);
    }
    return found;
  }

  private slotOf(text: string, at: number): number {
    const characters =
      text.charCodeAt(at) + Math.imul(text.charCodeAt(at + 1), 0x1f35) + Math.imul(text.charCodeAt(at + 2), 0x3a8f05);
    return (Math.imul(characters, 0x9e3779b1) >>> 7) & (this.slots - 1);
  }
}

const works: (() => unknown)[] = [];

/** Does one of such works in each turn of the event loop, so that no request waits for many of them. */
export function inItsTurn(work: () => unknown): void {
  works.push(work);
  if (works.length === 1) setImmediate(doNext);
}

function doNext(): void {
  works[0]?.();
  works.shift();
  if (works.length > 0) setImmediate(doNext);
}
