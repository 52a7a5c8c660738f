/** The result of a copy. */
export interface CopyResult {
  /** Whether the copy reached its end. `false` if it was aborted. */
  readonly isComplete: boolean;
  /** The number of source records that were processed, even if the target already had some of them or rejected them. */
  readonly processedCount: number;
  /** The number of processed records that are missing in the target after the copy, or have other content there. */
  readonly differentCount: number;
  /**
   * After a complete copy, the numbers of records in the source and in the target for each store, such as `campaigns`.
   * Otherwise, the list is empty.
   */
  readonly counts: readonly { readonly records: string; readonly source: number; readonly target: number }[];
}

/** Controls a long operation. */
export interface Control {
  /** Aborted when the operation must stop. */
  readonly signal: AbortSignal;
  /** Called with the number of processed records so far, and the expected number of all records. */
  onProgress(processedCount: number, totalCount: number): void;
}

/** The operations on the configured storage as a whole. */
export interface StorageTools {
  /**
   * Writes a consistent copy of the database to a new file. Rejects with `UsageError` if the storage does not support
   * this, the database is empty, or the file exists or cannot be written.
   */
  backUp(file: string): Promise<void>;
  /**
   * Copies all records to the database of a URL. Rejects with `UsageError` if one of the databases fails, or if the
   * target cannot be used or is not empty. The target of a resumed copy can have records.
   */
  copy(url: string, isResumed: boolean, control: Control): Promise<CopyResult>;
  /** Deletes a workspace and all of its records. An interrupted deletion can be repeated. */
  deleteWorkspace(workspaceId: string, control: Control): Promise<{ isComplete: boolean; deletedCount: number }>;
}
