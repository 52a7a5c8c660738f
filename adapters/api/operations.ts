import { analyticsOperations } from './analytics.ts';
import { briefOperations } from './brief.ts';
import { campaignOperations } from './campaign.ts';
import { contentPillarOperations } from './content-pillar.ts';
import { domainOperations } from './domain.ts';
import { eventOperations } from './event.ts';
import { groupOperations } from './group.ts';
import { inspirationQuestionOperations } from './inspiration-question.ts';
import { keyOperations } from './key.ts';
import { callerOperations } from './me.ts';
import { memberOperations } from './member.ts';
import type { Operation } from './operation.ts';
import { listMyShares, shareOperations } from './share.ts';
import { tagOperations } from './tag.ts';
import { webhookOperations } from './webhook.ts';

/** The operations of one resource: a tag of the OpenAPI document, and a section of the reference. */
export interface OperationSection {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

/** All operations of the API by resource, in the order of the OpenAPI document. */
export const operationSections: readonly OperationSection[] = [
  {
    name: 'Caller',
    description: 'The workspace, the member and the API key of a request.',
    operations: [...callerOperations, listMyShares],
  },
  {
    name: 'Campaigns',
    description: 'Content that employees share.',
    operations: [...campaignOperations, ...briefOperations, ...shareOperations],
  },
  {
    name: 'Inspiration questions',
    description: 'Prompts that suggest topics to write about.',
    operations: inspirationQuestionOperations,
  },
  {
    name: 'Content pillars',
    description: 'Themes that structure the content of a workspace.',
    operations: contentPillarOperations,
  },
  { name: 'Domains', description: 'Custom domains for short links.', operations: domainOperations },
  { name: 'Groups', description: 'Groups of members.', operations: groupOperations },
  { name: 'Tags', description: 'Labels for campaigns.', operations: tagOperations },
  { name: 'Analytics', description: 'Sums of shares, clicks and rewards.', operations: analyticsOperations },
  { name: 'Members', description: 'The people of a workspace, and their invitations.', operations: memberOperations },
  { name: 'API keys', description: 'The credentials of programs and members.', operations: keyOperations },
  {
    name: 'Events',
    description: 'Changes in the workspace that integrations can act on.',
    operations: eventOperations,
  },
  { name: 'Webhooks', description: 'URLs to which the service sends events.', operations: webhookOperations },
];

/** Returns the anchor of a section in the reference: `api-keys`. */
export function getSectionAnchor({ name }: Pick<OperationSection, 'name'>): string {
  return name.toLowerCase().replaceAll(' ', '-');
}

export const operations = operationSections.flatMap((section) => section.operations);
