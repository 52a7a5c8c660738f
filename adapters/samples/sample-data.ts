import type { Campaign, NewCampaignFields } from '../../core/campaign/campaign.ts';
import { DAY_MS, formatTimestamp, type ParsedDate, parseEndDate, parseStartDate } from '../../core/shared/date.ts';

/** The texts of inspiration questions. */
export const SAMPLE_QUESTIONS = [
  'What did you learn on your last trip outdoors?',
  'Which customer story made you proud this month?',
  'How do we make our tents last longer?',
  'What would you tell someone who starts here?',
  'Which tool do you miss in your daily work?',
  'What surprised you in your first week?',
] as const;

/** The first and the last day of a campaign, in days from now. A day in the past is negative. */
export type DayRange = readonly [firstDay: number, lastDay: number];

/** Returns a campaign for a sample workspace, with texts, dates and amounts. `now` is in milliseconds since the epoch. */
export function buildSampleCampaign(
  name: string,
  status: Campaign['status'],
  [firstDay, lastDay]: DayRange,
  now: number,
): NewCampaignFields {
  const formatDay = (days: number) => formatTimestamp(now + days * DAY_MS).slice(0, 10);
  return {
    name,
    status,
    description: `${name}: share it with your network.`,
    shareContext: 'Say in a sentence what it means to you.',
    objective: 'Reach',
    destinationUrl: `https://northwind.example/${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`,
    startDate: parseStartDate(formatDay(firstDay)) as ParsedDate,
    endDate: parseEndDate(formatDay(lastDay)) as ParsedDate,
    shareRewardAmount: '1.5',
    clickRewardAmount: '0.05',
    maxRewardPerEmployee: '50',
    totalBudget: '1000',
  };
}
