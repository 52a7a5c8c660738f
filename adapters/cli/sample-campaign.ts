import type { CampaignStatus, NewCampaign } from '../../core/campaign/campaign.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Returns a campaign of the sample company. `startDay` and `endDay` are days after `now`, negative for days before. */
export function buildSampleCampaign(
  name: string,
  status: CampaignStatus,
  [startDay, endDay]: readonly [number, number],
  now: number,
): NewCampaign {
  const formatDate = (days: number) => new Date(now + days * DAY_MS).toISOString().slice(0, 10);
  return {
    name,
    description: `${name}: share it with your network.`,
    shareContext: 'Say in a sentence what it means to you.',
    objective: 'Reach',
    status,
    destinationUrl: `https://northwind.example/${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`,
    startDate: formatDate(startDay),
    endDate: formatDate(endDay),
    shareRewardAmount: '1.5',
    clickRewardAmount: '0.05',
    maxRewardPerEmployee: '50',
    totalBudget: '1000',
  };
}
