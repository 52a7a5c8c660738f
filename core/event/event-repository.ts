import type { Page } from '../shared/page.ts';
import type { Event, EventType, NewEvent } from './event.ts';

/** Selects a page of events. */
export interface EventQuery {
  /** Only events with a greater sequence. */
  readonly after: number;
  /** Only events of these types. By default, of all types. */
  readonly types?: readonly EventType[] | undefined;
  readonly pageSize: number;
}

/** A page of events, in ascending order. */
export interface EventPage extends Page<Event> {
  /** The sequence of the newest event when the page was read (`findNewestSequence`). */
  readonly newestSequence: number;
}

/**
 * The events of all workspaces. An event that has expired is not returned. `Storage.onEventsCommitted` calls a listener
 * after the commit of new events.
 */
export interface EventRepository {
  /**
   * Adds an event with the next sequence of its workspace. Call it in a transaction, with the change that the event
   * reports. The number of the last event is one record, so transactions that add events to the same workspace are
   * made one after another. If such a transaction adds its events first, a storage can queue it instead of repeating
   * it.
   */
  add(event: NewEvent): Promise<void>;
  /**
   * Returns the page at the time `now`. An event that is committed later has a higher sequence than all events of the
   * page, so a reader misses none.
   */
  findPage(workspaceId: string, query: EventQuery, now: number): Promise<EventPage>;
  /** Returns the sequence of the newest event, even if it has expired, or 0 if there has been no event. */
  findNewestSequence(workspaceId: string): Promise<number>;
}
