import type { Repository } from '../shared/repository.ts';
import type { Member } from './member.ts';

/** The members of all workspaces. */
export interface MemberRepository
  extends Pick<Repository<Member>, 'findById' | 'findMany' | 'iterate' | 'add' | 'update'> {
  /** Returns the number of members of a group. */
  countByGroup(workspaceId: string, groupId: string): Promise<number>;
}
