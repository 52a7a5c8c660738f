import type { Member } from '../../core/member/member.ts';
import type { MemberRepository } from '../../core/member/member-repository.ts';
import type { RecordStore } from './record-store.ts';
import { createRepository } from './repository.ts';
import { defineSchema } from './schema.ts';

export const memberSchema = defineSchema<Member>({
  columns: { groupIds: 'texts', createdAt: 'text' },
  indexes: [['groupIds', 'createdAt']],
});

export function createMemberRepository(store: RecordStore<Member>): MemberRepository {
  return createRepository(store, memberSchema);
}
