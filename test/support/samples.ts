import type { z } from 'zod';
import { createCampaign } from '../../adapters/api/campaign.ts';
import type { LengthRange } from '../../core/shared/text.ts';

/** Values that a field accepts and rejects. `invalidItems` are items of an array. */
export interface SampleValues {
  readonly valid: readonly unknown[];
  readonly invalid: readonly unknown[];
  readonly invalidItems?: readonly unknown[];
}

/** Returns values with additional ones. */
export function withSamples({ valid, invalid }: SampleValues, more: Partial<SampleValues>): SampleValues {
  return { valid: [...valid, ...(more.valid ?? [])], invalid: [...invalid, ...(more.invalid ?? [])] };
}

/**
 * Returns texts with lengths around the limits of a field. Each character counts as one, but has two UTF-16 code units.
 */
export function texts({ min = 0, max }: LengthRange): SampleValues {
  const textOf = (length: number) => '𝒳'.repeat(length);
  const decomposed = 'é'.normalize('NFD');
  return {
    valid: [textOf(min), ` \t${textOf(max)}\n `, `${decomposed}${textOf(max - 2)}`],
    invalid: [
      ...(min > 0 ? ['', ' '.repeat(min), textOf(min - 1), ` ${textOf(min - 1)} `] : []),
      ...[textOf(max + 1), `${decomposed}${textOf(max - 1)}`],
      ...[`${textOf(min)}\0`, `${textOf(min)}\ud800`, `\udc00${textOf(min)}`],
    ],
  };
}

/** Returns the values of an enumeration. */
export function oneOf(...valid: readonly string[]): SampleValues {
  return {
    valid,
    invalid: ['', 'unknown', ...valid.slice(0, 2).flatMap((value) => [value.toUpperCase(), ` ${value}`])],
  };
}

export const booleans: SampleValues = { valid: [true, false], invalid: ['true', 'false', '', 0, 1] };

const ORIGIN = 'https://example.com/';
/** Returns a URL of the given length. Percent-encoding makes each `ü` five characters longer. */
const createUrl = (length: number, umlauts = '') => (ORIGIN + umlauts).padEnd(length, 'a');
/** A URL of 2,048 characters in its percent-encoded form. */
const LONGEST_ENCODED_URL = createUrl(2048 - 5 * 300, 'ü'.repeat(300));
const createHost = (...labelLengths: number[]) => labelLengths.map((length) => '漢'.repeat(length)).join('.');

/** URLs. They are stored trimmed, and otherwise unchanged. */
export const urls: SampleValues = {
  valid: [
    ...['http://example.com', 'https://example.com/path?query=1#fragment', 'HTTPS://EXAMPLE.COM/Path'],
    ...['http://localhost:8080', 'http://127.0.0.1/', 'http://[::1]/', 'https://bücher.example/ü'],
    ...['  https://example.com/trimmed\n', createUrl(2048), ` ${createUrl(2048)} `, LONGEST_ENCODED_URL],
    ...['https://example.com/|{}"<>^`%', `https://${createHost(63, 63, 63, 63)}`, `https://${'a'.repeat(63)}:8080/`],
  ],
  invalid: [
    ...['', ' ', 'example.com', '/path', '//example.com', 'http:example.com', 'https:/example.com', 'http://'],
    ...['http:///example.com', 'http:///', 'http://\\\\example.com', 'https://?query', 'https://exam\nple.com'],
    ...['https://example.com/a\tb', 'https://example.com/\u0001', 'https://exa mple.com', 'https://example.com:99999'],
    ...['javascript:alert(1)', 'data:text/plain,x', 'ftp://example.com', 'mailto:kim@example.com'],
    ...['https://user@example.com', 'https://@example.com', 'https://:@example.com/', 'https://:password@example.com'],
    ...['https://user:password@example.com', 'https://example.com/\0', 'https://example.com/\ud800', createUrl(2049)],
    ...[`${LONGEST_ENCODED_URL}a`, `${ORIGIN}${'𝒳'.repeat(2028)}`, `https://${createHost(120)}/${'%'.repeat(600)}`],
    ...[
      'https://example.com\\@evil.example/',
      'https://example.com/\\',
      'https://example.com?\\',
      'https://example.com#\\',
    ],
    ...[
      `https://${createHost(64)}.${'example'.repeat(5)}`,
      `https://${createHost(63, 63, 63, 64)}`,
      `https://${createHost(2000)}`,
    ],
  ],
};

export const urlsOrBlank: SampleValues = {
  valid: [...urls.valid, '', ' '],
  invalid: urls.invalid.filter((url) => String(url).trim() !== ''),
};

/** URLs of webhooks: without a fragment, and with https unless `WEBHOOK_NETWORKS` is set. */
export const webhookUrls: SampleValues = {
  valid: urls.valid.filter((url) => /^\s*https:[^#]*$/i.test(String(url))),
  invalid: [
    ...urls.invalid,
    'https://example.com#',
    'https://example.com/#a',
    'http://example.com',
    'https://10.0.0.1',
  ],
};

export const campaignBodySchema = createCampaign.body as NonNullable<typeof createCampaign.body>;
type CampaignBody = z.input<typeof campaignBodySchema>;
const example = createCampaign.example.body as CampaignBody;
const requiredFields = Object.entries(campaignBodySchema.shape).filter(
  ([, field]) => !field.safeParse(undefined).success,
);

/** The required fields of a campaign. Those that are not listed here have the value of the documented example. */
export const campaignBody = {
  ...(Object.fromEntries(requiredFields.map(([name]) => [name, example[name as never]])) as CampaignBody),
  name: 'A campaign',
  description: '',
  shareContext: '',
  objective: '',
  status: 'published',
  destinationUrl: 'https://example.com/',
  startDate: '2026-01-01',
  endDate: '2099-12-31',
  shareRewardAmount: '1.5',
  clickRewardAmount: '0.05',
  maxRewardPerEmployee: '50',
  totalBudget: '1000',
} as const;
