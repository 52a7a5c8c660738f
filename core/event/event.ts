import { EVENT_TTL_MS } from '../limits.ts';
import { formatTimestamp } from '../shared/date.ts';
import type { Entity } from '../shared/entity.ts';
import type { Clock, System } from '../shared/system.ts';

export const EVENT_TYPES = [
  'campaign.published',
  'campaign.archived',
  'campaign.budget_exhausted',
  'share.created',
  'member.created',
  'member.accepted',
  'member.updated',
  'member.deleted',
  'domain.verified',
  'webhook.disabled',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

interface CampaignData {
  readonly campaignId: string;
}

interface MemberData {
  readonly memberId: string;
}

/** The data of each type of event: only IDs, so that no event shows a name after its deletion. */
export interface EventData {
  readonly 'campaign.published': CampaignData;
  readonly 'campaign.archived': CampaignData;
  readonly 'campaign.budget_exhausted': CampaignData;
  readonly 'share.created': CampaignData & MemberData;
  readonly 'member.created': MemberData;
  readonly 'member.accepted': MemberData;
  readonly 'member.updated': MemberData;
  readonly 'member.deleted': MemberData;
  readonly 'domain.verified': { readonly domainId: string };
  readonly 'webhook.disabled': { readonly webhookId: string };
}

/** A change in a workspace that integrations can act on. */
export interface Event<T extends EventType = EventType> extends Entity {
  /** The number of the event in its workspace: 1 for the first one, without gaps, in the order of the commits. */
  readonly sequence: number;
  readonly type: T;
  readonly createdAt: string;
  readonly data: EventData[T];
  /** Milliseconds since the epoch, on the clock of the storage. */
  readonly expiresAt: number;
}

/** An event that has no number yet: `EventRepository.add` numbers it. */
export type NewEvent = Omit<Event, 'sequence'>;

/** Creates an event of a workspace, with a new ID and the time of the storage. */
export type EventFactory = <T extends EventType>(workspaceId: string, type: T, data: EventData[T]) => NewEvent;

export function createEventFactory(system: Pick<System, 'newId'>, storageClock: Clock): EventFactory {
  return (workspaceId, type, data) => {
    const now = storageClock.now();
    return {
      id: system.newId(),
      workspaceId,
      type,
      createdAt: formatTimestamp(now),
      data,
      expiresAt: now + EVENT_TTL_MS,
    };
  };
}
