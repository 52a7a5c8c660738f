import type { EntityChange } from '../shared/repository.ts';
import type { Member } from './member.ts';

/** The members of all workspaces. */
export interface MemberRepository {
  findById(workspaceId: string, id: string): Promise<Member | undefined>;
  findMany(workspaceId: string, ids: readonly string[]): Promise<readonly Member[]>;
  iterate(workspaceId: string): AsyncIterable<Member>;
  add(member: Member): Promise<void>;
  update(workspaceId: string, id: string, change: EntityChange<Member>): Promise<Member | undefined>;
}
