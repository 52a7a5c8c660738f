import type { Event } from '../../core/event/event.ts';
import type { EventRepository } from '../../core/event/event-repository.ts';
import type { Entity } from '../../core/shared/entity.ts';
import type { Condition, RecordStore } from './record-store.ts';
import { defineSchema } from './schema.ts';

export const eventSchema = defineSchema<Event>({
  columns: { type: 'text', sequence: 'number', expiresAt: 'number' },
  indexes: [['sequence'], ['type', 'sequence']],
  expires: 'expiresAt',
});

/** The sequence of the newest event of a workspace. It outlives the events. Its ID is that of the workspace. */
export interface EventCounter extends Entity {
  /** Missing before the first event. */
  readonly sequence?: number;
  /** Each creation of a webhook writes this number. So simultaneous creations see each other's webhooks. */
  readonly webhookWriteCount?: number;
}

export const eventCounterSchema = defineSchema<EventCounter>({});

/** Creates the repository. `onAdd` is called with the ID of the workspace of each added event. */
export function createEventRepository(
  store: RecordStore<Event>,
  counters: RecordStore<EventCounter>,
  onAdd: (workspaceId: string) => void,
): EventRepository {
  const findNewestSequence = async (workspaceId: string) =>
    (await counters.get(workspaceId, workspaceId))?.sequence ?? 0;
  return {
    async add(event) {
      const { workspaceId } = event;
      const sequence = await counters.increment(workspaceId, workspaceId, 'sequence');
      await store.add({ ...event, sequence });
      onAdd(workspaceId);
    },
    async findPage(workspaceId, { after, types = [], pageSize }, now) {
      // Other transactions can commit between the reads of this page. All events up to this one are committed already.
      const newestSequence = await findNewestSequence(workspaceId);
      const [from, to, take] = [after + 1, newestSequence, pageSize + 1];
      // One list for each type, because an index has the order of `sequence` only for one type.
      const typeConditions = types.length === 0 ? [[]] : types.map((type) => [{ field: 'type', in: [type] } as const]);
      const read = async (...where: readonly Condition<Event>[]) => {
        const lists = typeConditions.map((type) =>
          store.list(workspaceId, {
            where: [...type, { field: 'sequence', from, to }, ...where],
            ...{ by: 'sequence', order: 'asc', skip: 0, take },
          }),
        );
        const found = (await Promise.all(lists)).flat() as readonly Event[];
        return found.toSorted((a, b) => a.sequence - b.sequence).slice(0, take);
      };
      let found = await read();
      // Usually, a storage has deleted the expired events. The condition would make it test each event.
      if (found.some(({ expiresAt }) => expiresAt <= now)) found = await read({ field: 'expiresAt', from: now + 1 });
      return { items: found.slice(0, pageSize), hasNext: found.length > pageSize, newestSequence };
    },
    findNewestSequence,
  };
}
