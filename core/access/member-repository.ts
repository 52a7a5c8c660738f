import type { Repository } from '../shared/repository.ts';
import type { Member } from './member.ts';

/** The members of all workspaces. */
export interface MemberRepository extends Repository<Member> {
  countByGroup(workspaceId: string, groupId: string): Promise<number>;
}
