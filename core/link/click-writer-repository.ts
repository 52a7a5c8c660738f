import type { ClickWriter } from './click-writer.ts';

/** The processes that store clicks, of all workspaces. The methods keep the promises of `Repository` (core/shared/repository.ts). */
export interface ClickWriterRepository {
  /** Returns a writer, or `undefined` if it has stored no batch, or if its record has expired. */
  findById(workspaceId: string, id: string): Promise<ClickWriter | undefined>;
  /** Adds a writer with its first batch. Rejects with `conflict` if its ID is taken. */
  add(writer: ClickWriter): Promise<void>;
  /** Replaces a writer by the result of `change`, atomically. Returns the new value, or `undefined` if there is no such writer. */
  update(
    workspaceId: string,
    id: string,
    change: (current: ClickWriter) => ClickWriter,
  ): Promise<ClickWriter | undefined>;
}
