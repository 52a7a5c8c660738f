import type { NameFilter } from '../shared/name-filter.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { EntityChange, FindFields } from '../shared/repository.ts';
import type { SeatType } from '../shared/seat-type.ts';
import type { InvitationStatus, Member, Role } from './member.ts';

/** The search term is compared with name and email address. */
export interface MemberFilter extends NameFilter {
  readonly role?: Role | undefined;
  readonly seatType?: SeatType | undefined;
  /** Only members of at least one of these groups. */
  readonly groupIds?: readonly string[] | undefined;
  readonly invitation?: InvitationStatus | undefined;
}

/** The members of all workspaces. An email address is unique in its workspace (case-insensitive). */
export interface MemberRepository {
  findById(workspaceId: string, id: string): Promise<Member | undefined>;
  findMany(workspaceId: string, ids: readonly string[]): Promise<readonly Member[]>;
  readonly findFields: FindFields<Member>;
  /** Returns the member with this email address (case-insensitive). */
  findByEmail(workspaceId: string, email: string): Promise<Member | undefined>;
  /** Returns a page of the members that match the filter at the time `now`. */
  findPage(workspaceId: string, filter: MemberFilter, now: number, request: PageRequest): Promise<Page<Member>>;
  /** Returns an admin with an accepted invitation, other than the member with this ID. */
  findOtherAdmin(workspaceId: string, id: string): Promise<Member | undefined>;
  add(member: Member): Promise<void>;
  update(workspaceId: string, id: string, change: EntityChange<Member>): Promise<Member | undefined>;
  /** Returns whether the member existed. */
  remove(workspaceId: string, id: string): Promise<boolean>;
  /** Revokes the API keys of a member that are not revoked yet. Call it in a transaction. */
  revokeKeys(workspaceId: string, id: string, revokedAt: string): Promise<void>;
}
