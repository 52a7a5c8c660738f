/** The TXT records of a name, each as the list of its strings. */
export type TxtRecords = readonly (readonly string[])[];

/** The result of a lookup of the TXT records of a name. */
export type DomainRecordLookup =
  | { readonly outcome: 'found'; readonly records: TxtRecords }
  /** The name does not exist, or has no TXT record. */
  | { readonly outcome: 'none' }
  /** No name server answered the question. `code` names the reason, for example a timeout. */
  | { readonly outcome: 'failed'; readonly code: string }
  /** The name servers were not asked, because too many other lookups were waiting for them. */
  | { readonly outcome: 'busy' };

/** Looks up public DNS records. */
export interface DomainRecords {
  /** Looks up the TXT records of exactly this name. Does not use an earlier lookup. */
  findTxtRecords(name: string): Promise<DomainRecordLookup>;
}
