import type { CampaignStatus, NewCampaign } from '../../core/campaign/campaign.ts';

const DAY = 24 * 60 * 60 * 1000;

/** A campaign of the sample company that lasts from one day to another, counted from now. */
export function sampleCampaign(
  name: string,
  status: CampaignStatus,
  [from, to]: readonly [number, number],
  now: number,
): NewCampaign {
  const date = (days: number) => new Date(now + days * DAY).toISOString().slice(0, 10);
  return {
    name,
    description: `${name}: share it with your network.`,
    shareContext: 'Say in a sentence what it means to you.',
    objective: 'Reach',
    status,
    destinationUrl: `https://northwind.example/${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`,
    startDate: date(from),
    endDate: date(to),
    shareRewardAmount: '1.5',
    clickRewardAmount: '0.05',
    maxRewardPerEmployee: '50',
    totalBudget: '1000',
  };
}

/** Choices that are the same for the same number (Mulberry32). */
export class Choices {
  constructor(private state: number) {}

  /** A whole number from 0 up to `end`, that one excluded. */
  below(end: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
  }

  between(first: number, last: number): number {
    return first + this.below(last - first + 1);
  }

  /** One of the values. */
  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }

  /** Some of the values, `most` at most, none of them twice. */
  some<T>(values: readonly T[], most: number): T[] {
    const left = [...values];
    const count = Math.min(this.between(0, most), left.length);
    return Array.from({ length: count }, () => left.splice(this.below(left.length), 1)[0] as T);
  }
}
