import type { Repository } from '../shared/repository.ts';
import type { Member } from './member.ts';

export interface MemberRepository
  extends Pick<Repository<Member>, 'findById' | 'findMany' | 'iterate' | 'add' | 'update'> {
  /** Returns the number of members of a group. */
  countByGroup(workspaceId: string, groupId: string): Promise<number>;
}
