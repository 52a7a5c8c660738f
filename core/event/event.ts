import { EVENT_TTL_MS } from '../limits.ts';
import { formatTimestamp } from '../shared/date.ts';
import type { Entity } from '../shared/entity.ts';
import type { Clock, System } from '../shared/system.ts';

/**
 * The types of events, each with the fields of its data: only IDs, so that no event shows a name after its deletion.
 */
const dataFields = {
  'campaign.published': ['campaignId'],
  'campaign.archived': ['campaignId'],
  'campaign.budget_exhausted': ['campaignId'],
  'share.created': ['campaignId', 'memberId'],
  'member.created': ['memberId'],
  'member.accepted': ['memberId'],
  'member.updated': ['memberId'],
  'member.deleted': ['memberId'],
  'domain.verified': ['domainId'],
  'webhook.disabled': ['webhookId'],
} as const;
export type EventType = keyof typeof dataFields;
export const EVENT_TYPES = Object.keys(dataFields) as readonly EventType[];

/** The data of each type of event. */
export type EventData = {
  readonly [T in EventType]: { readonly [F in (typeof dataFields)[T][number]]: string };
};

/** A change in a workspace that integrations can act on. */
export interface Event extends Entity {
  /** The number of the event in its workspace: 1 for the first one, without gaps, in the order of the commits. */
  readonly sequence: number;
  readonly type: EventType;
  readonly createdAt: string;
  readonly data: EventData[EventType];
  /** Milliseconds since the epoch, on the clock of the storage. */
  readonly expiresAt: number;
}

/** An event that has no number yet: `EventRepository.add` numbers it. */
export type NewEvent = Omit<Event, 'sequence'>;

/** Creates an event of a workspace, with a new ID and the time of the storage. */
export type EventFactory = <T extends EventType>(workspaceId: string, type: T, data: EventData[T]) => NewEvent;

export function createEventFactory({ newId }: Pick<System, 'newId'>, storageClock: Clock): EventFactory {
  return (workspaceId, type, data) => {
    const now = storageClock.now();
    return { id: newId(), workspaceId, type, createdAt: formatTimestamp(now), data, expiresAt: now + EVENT_TTL_MS };
  };
}
