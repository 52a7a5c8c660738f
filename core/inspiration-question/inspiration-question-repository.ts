import type { Page, PageRequest } from '../shared/page.ts';
import type { Repository } from '../shared/repository.ts';
import type { Availability, InspirationQuestion, UserType } from './inspiration-question.ts';

export interface InspirationQuestionFilter {
  readonly search?: string | undefined;
  readonly userType?: UserType | undefined;
  /** The groups of a question must include at least one of these groups. */
  readonly groupIds?: readonly string[] | undefined;
  readonly includeArchived: boolean;
  readonly isActive?: boolean | undefined;
  /** Only questions that an actor (shared/actor.ts) can use, as `getAvailability` returns it. */
  readonly availability?: Availability | undefined;
}

export interface InspirationQuestionRepository
  extends Pick<Repository<InspirationQuestion>, 'findById' | 'add' | 'update' | 'remove'> {
  findPage(
    workspaceId: string,
    filter: InspirationQuestionFilter,
    request: PageRequest,
  ): Promise<Page<InspirationQuestion>>;
}
