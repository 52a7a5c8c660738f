import type { LengthRange } from '../../core/shared/text.ts';

/** Texts on both sides of a field's bounds. Their characters take two UTF-16 units each, and count as one. */
export function textsAroundLimits({ min = 0, max }: LengthRange): {
  readonly valid: string[];
  readonly invalid: string[];
} {
  const long = (length: number) => '𝒳'.repeat(length);
  return {
    valid: [long(min), long(max), ` \t${long(max)}\n `, `${'é'.normalize('NFD')}${long(max - 2)}`],
    invalid: [
      ...(min > 0 ? ['', ' '.repeat(min), long(min - 1), ` ${long(min - 1)} `] : []),
      long(max + 1),
      `${'é'.normalize('NFD')}${long(max - 1)}`,
      `${long(min)}\0`,
      `${long(min)}\ud800`,
      `\udc00${long(min)}`,
    ],
  };
}

const ORIGIN = 'https://example.com/';
const ofLength = (length: number) => ORIGIN + '𝒳'.repeat(length - ORIGIN.length);

/** What every field of a URL takes; it is kept as it was sent, trimmed. */
export const validUrls = [
  'http://example.com',
  'https://example.com/path?query=1#fragment',
  'HTTPS://EXAMPLE.COM/Path',
  'http://localhost:8080',
  'http://127.0.0.1/',
  'http://[::1]/',
  'https://bücher.example/ü',
  '  https://example.com/trimmed\n',
  ofLength(2048),
  ` ${ofLength(2048)} `,
];

/** What no field of a URL takes. */
export const invalidUrls = [
  'example.com',
  '/path',
  '//example.com',
  'http:example.com',
  'https:/example.com',
  'http://',
  'http:///example.com',
  'http:///',
  'http://\\\\example.com',
  'https://?query',
  'https://exam\nple.com',
  'https://example.com/a\tb',
  'https://example.com/\u0001',
  'https://exa mple.com',
  'https://example.com:99999',
  'javascript:alert(1)',
  'data:text/plain,x',
  'ftp://example.com',
  'mailto:kim@example.com',
  'https://user@example.com',
  'https://@example.com',
  'https://:@example.com/',
  'https://user:password@example.com',
  'https://:password@example.com',
  'https://example.com/\0',
  'https://example.com/\ud800',
  ofLength(2049),
];

/** The body of a campaign with the required fields alone. */
export const campaignBody = {
  name: 'Summer',
  description: 'Tents are here',
  shareContext: 'Say it in your words',
  objective: 'Reach',
  status: 'published',
  destinationUrl: 'https://example.com/summer',
  startDate: '2026-06-01',
  endDate: '2026-06-30',
  shareRewardAmount: 1.5,
  clickRewardAmount: '0.05',
  maxRewardPerEmployee: 50,
  totalBudget: '1000',
};
