import type { LengthRange } from '../../core/shared/text.ts';

/** Returns texts with lengths around the limits of a field. Each character counts as one, but has two UTF-16 code units. */
export function textsAroundLimits({ min = 0, max }: LengthRange): {
  readonly valid: string[];
  readonly invalid: string[];
} {
  const textOf = (length: number) => '𝒳'.repeat(length);
  return {
    valid: [textOf(min), textOf(max), ` \t${textOf(max)}\n `, `${'é'.normalize('NFD')}${textOf(max - 2)}`],
    invalid: [
      ...(min > 0 ? ['', ' '.repeat(min), textOf(min - 1), ` ${textOf(min - 1)} `] : []),
      textOf(max + 1),
      `${'é'.normalize('NFD')}${textOf(max - 1)}`,
      `${textOf(min)}\0`,
      `${textOf(min)}\ud800`,
      `\udc00${textOf(min)}`,
    ],
  };
}

const ORIGIN = 'https://example.com/';
const createUrl = (length: number) => ORIGIN + '𝒳'.repeat(length - ORIGIN.length);

/** URLs that every URL field accepts. They are stored trimmed, and otherwise unchanged. */
export const validUrls = [
  'http://example.com',
  'https://example.com/path?query=1#fragment',
  'HTTPS://EXAMPLE.COM/Path',
  'http://localhost:8080',
  'http://127.0.0.1/',
  'http://[::1]/',
  'https://bücher.example/ü',
  '  https://example.com/trimmed\n',
  createUrl(2048),
  ` ${createUrl(2048)} `,
];

/** URLs that every URL field rejects. */
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
  createUrl(2049),
];

/** The body of a campaign with only the required fields. */
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
