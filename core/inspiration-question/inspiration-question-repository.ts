import type { Page, PageRequest } from '../shared/page.ts';
import type { EntityChange } from '../shared/repository.ts';
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

/** The inspiration questions of all workspaces. */
export interface InspirationQuestionRepository {
  findById(workspaceId: string, id: string): Promise<InspirationQuestion | undefined>;
  findPage(
    workspaceId: string,
    filter: InspirationQuestionFilter,
    request: PageRequest,
  ): Promise<Page<InspirationQuestion>>;
  add(question: InspirationQuestion): Promise<void>;
  update(
    workspaceId: string,
    id: string,
    change: EntityChange<InspirationQuestion>,
  ): Promise<InspirationQuestion | undefined>;
  /** Returns whether the question existed. */
  remove(workspaceId: string, id: string): Promise<boolean>;
}
