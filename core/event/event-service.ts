import type { Page } from '../shared/page.ts';
import type { Clock } from '../shared/system.ts';
import type { Event } from './event.ts';
import type { EventQuery, EventRepository } from './event-repository.ts';

export class EventService {
  constructor(
    private readonly events: EventRepository,
    private readonly storageClock: Clock,
  ) {}

  /** Returns the events after a sequence, in ascending order, without expired ones. */
  list(workspaceId: string, query: EventQuery): Promise<Page<Event>> {
    return this.events.findPage(workspaceId, query, this.storageClock.now());
  }
}
