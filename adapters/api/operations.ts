import { createCampaign, getCampaign, listCampaigns } from './campaign.ts';
import { deleteContentPillar, listContentPillars, updateContentPillar } from './content-pillar.ts';
import { createDomain, listDomains } from './domain.ts';
import { createGroup } from './group.ts';
import {
  createInspirationQuestion,
  deleteInspirationQuestion,
  listInspirationQuestions,
  updateInspirationQuestion,
} from './inspiration-question.ts';
import type { Operation } from './operation.ts';
import { createTag, updateTag } from './tag.ts';

/** All operations of the API, in the order of the OpenAPI document. */
export const operations: readonly Operation[] = [
  createCampaign,
  listCampaigns,
  getCampaign,
  createInspirationQuestion,
  listInspirationQuestions,
  updateInspirationQuestion,
  deleteInspirationQuestion,
  listContentPillars,
  updateContentPillar,
  deleteContentPillar,
  createDomain,
  listDomains,
  createGroup,
  createTag,
  updateTag,
];
