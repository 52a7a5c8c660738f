import { getCampaignBrief } from './brief.ts';
import { campaignOperations } from './campaign.ts';
import { contentPillarOperations } from './content-pillar.ts';
import { domainOperations } from './domain.ts';
import { groupOperations } from './group.ts';
import { inspirationQuestionOperations } from './inspiration-question.ts';
import { getMe } from './me.ts';
import type { Operation } from './operation.ts';
import { shareOperations } from './share.ts';
import { tagOperations } from './tag.ts';

/** All operations of the API, in the order of the OpenAPI document. */
export const operations: readonly Operation[] = [
  getMe,
  ...campaignOperations,
  getCampaignBrief,
  ...shareOperations,
  ...inspirationQuestionOperations,
  ...contentPillarOperations,
  ...domainOperations,
  ...groupOperations,
  ...tagOperations,
];
