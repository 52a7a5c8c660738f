import fc from 'fast-check';
import type { Actor, Caller } from '../../core/access/caller.ts';
import { INVITATION_STATUSES, ROLES, SEAT_TYPES } from '../../core/access/member.ts';
import type { Application } from '../../core/application.ts';
import {
  CAMPAIGN_DATE_FILTERS,
  CAMPAIGN_SORTS,
  CAMPAIGN_STATUSES,
  CAMPAIGN_SUMMARY_FIELDS,
} from '../../core/campaign/campaign.ts';
import type { CampaignQuery, CampaignView } from '../../core/campaign/campaign-service.ts';
import { CONTENT_PILLAR_SORTS, CONTENT_PILLAR_STATUSES } from '../../core/content-pillar/content-pillar.ts';
import { ICONS, USER_TYPES } from '../../core/inspiration-question/inspiration-question.ts';
import { SHARE_SORTS } from '../../core/share/share.ts';
import { COLORS } from '../../core/shared/color.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import { NAME_SORTS } from '../../core/shared/name.ts';
import type { Page } from '../../core/shared/page.ts';
import { DAY, MINUTE, SECOND } from '../support/core.ts';
import { parseDates } from '../support/parse-dates.ts';
import { createCampaignFields } from '../support/tenants.ts';
import type { UseCaseName } from '../support/use-cases.ts';

export type RecordName =
  | 'members'
  | 'campaigns'
  | 'contentPillars'
  | 'domains'
  | 'groups'
  | 'inspirationQuestions'
  | 'tags'
  | 'apiKeys';

/**
 * Chooses a record that earlier steps have created: in the workspace of the step (`own`) or in the other workspace.
 * `at`, modulo the number of these records, is its position among them. `none` chooses an unknown ID.
 */
export interface RecordChoice {
  readonly from: 'own' | 'other' | 'none';
  readonly at: number;
}

/**
 * One of the two sides that use-cases.test.ts compares, memory or another storage engine: an application, and the
 * records that earlier steps have created in it.
 */
export interface Side {
  readonly app: Application;
  workspace(at: number): string;
  caller(at: number): Promise<Caller>;
  id(workspaceId: string, recordName: RecordName, choice: RecordChoice): string;
  ids(workspaceId: string, recordName: RecordName, choices: readonly RecordChoice[]): string[];
  slug(slugLabel: string): string;
  now(): string;
}

/** A call of a use case. `wait` is its delay after the previous call, in milliseconds. */
interface UseCaseCall {
  readonly wait: number;
  readonly input: unknown;
  run(side: Side): Promise<unknown>;
}

/** A use case with its input. */
export interface Step extends UseCaseCall {
  readonly useCase: UseCase;
  /**
   * The type of the records that the use case creates and returns, if any. `runOnce` creates a tag, but returns a
   * response.
   */
  readonly creates: RecordName | undefined;
  /** Returns the step as it is printed in a failing sequence. */
  [fc.toStringMethod](): string;
}

/** The parts of texts: upper and lower case, accents, and characters with a meaning in a pattern. */
const FRAGMENTS = [
  ...'a B Straße STRASSE ß ẞ İ i I ı Σ σ ς É e\u0301 é e ﬁ ǰ J\u030c Ω \u2126 \u00b5 \u03bc \u017f s 日本 🏆 👩‍💻'.split(
    ' ',
  ),
  ...['\uffee', '\u{10ffff}'],
  ...'. * .* ( ) [a-z] {2} ^ $ | ? + \\ \\d / - # " \' % _ $where'.split(' '),
  ...[' ', '\t', '\n', '\r', '\u2028', '\u00a0', '\u200b'],
];

const fragment = fc.constantFrom(...FRAGMENTS);
const textOf = (maxFragmentCount: number) =>
  fc.array(fragment, { minLength: 1, maxLength: maxFragmentCount, size: 'max' }).map((parts) => parts.join(''));
const text = fc.oneof(
  { weight: 19, arbitrary: textOf(12) },
  { weight: 1, arbitrary: fragment.map((it) => `${it.repeat(2_000)}end`) },
);
const term = fc.oneof({ weight: 4, arbitrary: fragment }, { weight: 1, arbitrary: textOf(2) });
const name = fc.oneof(fc.constantFrom('One', 'ONE', 'one', 'Σίσυφοσ', 'ΣΊΣΥΦΟΣ', 'Σίσυφος', 'two'), text);
/** Labels of slugs, and idempotency keys. They are few, so that steps often use the same label or key. */
const slugLabel = fc.constantFrom('a', 'b', 'c', 'xn--bcher-kva');
const flag = fc.boolean();

const mostly = <T>(usual: T, ...rare: T[]) => fc.constantFrom<T[]>(...Array<T>(12).fill(usual), ...rare);
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const rarelyPresent = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });

const at = fc.nat(20);
const choice: fc.Arbitrary<RecordChoice> = fc.record({
  from: mostly<RecordChoice['from']>('own', 'other', 'none'),
  at,
});
const choices = fc.array(choice, { maxLength: 2 });
const batchOf = <T>(item: fc.Arbitrary<T>) => fc.array(item, { maxLength: 12, size: 'max' });
const paging = {
  page: fc.oneof({ weight: 12, arbitrary: fc.constantFrom(1, 1, 1, 1, 2, 3) }, fc.constant(2 ** 53 - 1)),
  pageSize: fc.integer({ min: 1, max: 9 }),
};

const wait = fc.oneof(
  { weight: 40, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.constantFrom(1, SECOND) },
  { weight: 1, arbitrary: fc.constantFrom(29 * SECOND, 30 * SECOND, MINUTE, DAY) },
);

type InputArbitraries<T> = { [F in keyof T]: fc.Arbitrary<T[F]> };

/** Creates calls of a use case. */
function callOf<T>(input: InputArbitraries<T>, run: (side: Side, input: T) => unknown) {
  return fc
    .record({ wait, input: fc.record(input) as fc.Arbitrary<T> })
    .map(({ wait, input }): UseCaseCall => ({ wait, input, run: async (side) => run(side, input) }));
}

/** Creates calls of a use case in a workspace, mostly in the first one. */
function inWorkspace<T>(
  input: InputArbitraries<T>,
  run: (side: Side, workspaceId: string, input: T) => unknown,
): fc.Arbitrary<UseCaseCall> {
  const all = { workspace: fc.constantFrom(0, 0, 0, 1), input: fc.record(input) as fc.Arbitrary<T> };
  return callOf(all, (side, { workspace, input }) => run(side, side.workspace(workspace), input));
}

/** Creates calls of a use case by the owner of an API key. */
function byCaller<T>(
  input: InputArbitraries<T>,
  run: (side: Side, caller: Caller, input: T) => unknown,
): fc.Arbitrary<UseCaseCall> {
  const all = { caller: fc.oneof(fc.constant(0), at), input: fc.record(input) as fc.Arbitrary<T> };
  return callOf(all, async (side, { caller, input }) => run(side, await side.caller(caller), input));
}

/** A date that is replaced by the time of the step. */
const NOW = 'now';
export const START_DATES = ['2100-01-01', '2100-01-02T09:30:00+02:00', '2100-01-01T00:00:00.001Z', '2100-02-01'];
export const END_DATES = ['2100-02-01', '2100-01-02', '2100-03-01T00:00', '2100-01-01T23:59:59.999Z'];

const requiredCampaignFields = {
  name: text,
  description: text,
  status: fc.constantFrom('published', ...CAMPAIGN_STATUSES),
  startDate: fc.constantFrom(NOW, ...START_DATES),
  endDate: fc.constantFrom(NOW, ...END_DATES),
};
const optionalCampaignFields = {
  domain: rarelyPresent(fc.option(slugLabel)),
  tags: optional(choices),
  groups: rarelyPresent(choices),
  pillar: rarelyPresent(fc.option(choice)),
  targetShares: optional(fc.maxSafeNat()),
  resources: optional(fc.constant([{ url: 'https://example.com/', type: undefined, width: 0, size: 0.5 }])),
};
const campaignFields = fc.record({ ...requiredCampaignFields, ...optionalCampaignFields });
/** Some fields of a campaign, usually few. */
const campaignChange = fc.record({
  name: rarelyPresent(text),
  description: rarelyPresent(text),
  status: optional(requiredCampaignFields.status),
  startDate: rarelyPresent(requiredCampaignFields.startDate),
  endDate: rarelyPresent(requiredCampaignFields.endDate),
  ...optionalCampaignFields,
  targetShares: rarelyPresent(fc.option(fc.maxSafeNat())),
});

interface CampaignFields {
  readonly startDate?: string | undefined;
  readonly endDate?: string | undefined;
  readonly domain?: string | null | undefined;
  readonly tags?: readonly RecordChoice[] | undefined;
  readonly groups?: readonly RecordChoice[] | undefined;
  readonly pillar?: RecordChoice | null | undefined;
}

/** Replaces the choices of records by the slugs and IDs of the chosen records. */
function toCampaignFields<F extends CampaignFields>(
  side: Side,
  workspaceId: string,
  { domain, tags, groups, pillar, ...fields }: F,
) {
  const dateOf = (date: string | undefined) => (date === NOW ? side.now() : date);
  return {
    ...fields,
    ...parseDates({
      startDate: dateOf(fields.startDate) as F['startDate'],
      endDate: dateOf(fields.endDate) as F['endDate'],
    }),
    domain: domain && side.slug(domain),
    tagIds: tags && side.ids(workspaceId, 'tags', tags),
    groupIds: groups && side.ids(workspaceId, 'groups', groups),
    contentPillarId: pillar && side.id(workspaceId, 'contentPillars', pillar),
  };
}

function toNewCampaign<F extends CampaignFields>(side: Side, workspaceId: string, fields: F) {
  return { ...createCampaignFields(), ...toCampaignFields(side, workspaceId, fields) };
}

const questionFields = {
  description: optional(text),
  icon: optional(fc.constantFrom(...ICONS)),
  userType: optional(fc.constantFrom(...USER_TYPES)),
  groups: optional(choices),
  isActive: optional(flag),
  archived: rarelyPresent(flag),
};
const newQuestion = fc.record({ ...questionFields, question: text });
const questionChange = fc.record({ ...questionFields, question: optional(text) });
const memberFields = {
  role: optional(fc.constantFrom(...ROLES)),
  seatType: optional(fc.constantFrom(...SEAT_TYPES)),
  groupIds: rarelyPresent(choices),
  invitation: rarelyPresent(fc.constantFrom(...INVITATION_STATUSES)),
};

/** Returns the fields with IDs in place of the choices of groups. */
function withGroupIds<F extends string, T extends { readonly [_ in F]?: readonly RecordChoice[] | undefined }>(
  side: Side,
  workspaceId: string,
  field: F,
  fields: T,
): Omit<T, F> & { readonly [_ in F]: string[] | undefined } {
  const groups = fields[field];
  return { ...fields, [field]: groups && side.ids(workspaceId, 'groups', groups) } as never;
}

/** Creates records one after another, until one is rejected. */
async function createAll<T, R>(batch: readonly T[], create: (item: T) => Promise<R>): Promise<R[]> {
  const created: R[] = [];
  for (const item of batch) created.push(await create(item));
  return created;
}

/** Use cases that create the records to which other records refer. */
const creatingFirst = {
  'members.create': inWorkspace({ ...memberFields, name, email: name }, (side, workspaceId, member) =>
    side.app.members.create(workspaceId, withGroupIds(side, workspaceId, 'groupIds', member)),
  ),
  'contentPillars.create': inWorkspace(
    {
      author: choice,
      batch: batchOf(fc.record({ title: name, color: fc.constantFrom(...COLORS), description: optional(text) })),
    },
    async (side, workspaceId, { author, batch }) => {
      const authorId = side.id(workspaceId, 'members', author);
      const created = await createAll(batch, (pillar) =>
        side.app.contentPillars.create(workspaceId, { ...pillar, authorId }),
      );
      return created;
    },
  ),
  'domains.createOrArchive': inWorkspace(
    { slug: slugLabel, archived: optional(flag), expiredUrl: optional(text), placeholder: optional(text) },
    async (side, workspaceId, { slug, ...request }) => {
      const result = await side.app.domains.createOrArchive(workspaceId, { ...request, slug: side.slug(slug) });
      return { ...result.domain, created: result.created };
    },
  ),
  'groups.create': inWorkspace(
    { batch: batchOf(fc.record({ name, description: optional(text) })) },
    (side, workspaceId, { batch }) => createAll(batch, (group) => side.app.groups.create(workspaceId, group)),
  ),
  'tags.create': inWorkspace({ batch: batchOf(name) }, (side, workspaceId, { batch }) =>
    createAll(batch, (name) => side.app.tags.create(workspaceId, name)),
  ),
};

const creating = {
  ...creatingFirst,
  'apiKeys.create': inWorkspace(
    {
      member: optional(choice),
      expiresAt: rarelyPresent(fc.constantFrom('2100-01-01T00:00:10.000Z', '2100-01-05T00:00:00.000Z')),
    },
    async (side, workspaceId, { member, expiresAt }) => {
      const memberId = member && side.id(workspaceId, 'members', member);
      const { apiKey, secret } = await side.app.apiKeys.create(workspaceId, { memberId, expiresAt });
      return { ...apiKey, secret };
    },
  ),
  'campaigns.create': byCaller({ batch: batchOf(campaignFields) }, (side, caller, { batch }) =>
    createAll(batch, (fields) => side.app.campaigns.create(caller, toNewCampaign(side, caller.workspaceId, fields))),
  ),
  'inspirationQuestions.create': inWorkspace({ batch: batchOf(newQuestion) }, (side, workspaceId, { batch }) =>
    createAll(batch, (fields) =>
      side.app.inspirationQuestions.create(workspaceId, withGroupIds(side, workspaceId, 'groups', fields)),
    ),
  ),
  runOnce: byCaller(
    { idempotencyKey: slugLabel, fingerprint: mostly('f', 'g'), name, isRejected: mostly(false, true) },
    (side, { workspaceId, keyId }, { name, isRejected, ...request }) =>
      side.app.runOnce({ ...request, workspaceId, keyId }, async (app) => {
        const tag = await app.tags.create(workspaceId, name);
        if (isRejected) throw new CoreError('conflict', 'rejected by the test');
        return { status: 201, body: JSON.stringify(tag) };
      }),
  ),
};

const changing = {
  'members.update': inWorkspace(
    { choice, change: fc.record({ ...memberFields, name: optional(name) }) },
    (side, workspaceId, { choice, change }) =>
      side.app.members.update(
        workspaceId,
        side.id(workspaceId, 'members', choice),
        withGroupIds(side, workspaceId, 'groupIds', change),
      ),
  ),
  'apiKeys.revoke': inWorkspace({ choice }, (side, workspaceId, { choice }) =>
    side.app.apiKeys.revoke(workspaceId, side.id(workspaceId, 'apiKeys', choice)),
  ),
  'apiKeys.authenticate': byCaller({}, (_, caller) => caller),
  'campaigns.update': byCaller({ choice, change: campaignChange }, (side, caller, { choice, change }) =>
    side.app.campaigns.update(
      caller,
      side.id(caller.workspaceId, 'campaigns', choice),
      toCampaignFields(side, caller.workspaceId, change),
    ),
  ),
  'shares.createForMember': inWorkspace({ choice, member: choice }, (side, workspaceId, { choice, member }) =>
    side.app.shares.createForMember(
      workspaceId,
      side.id(workspaceId, 'campaigns', choice),
      side.id(workspaceId, 'members', member),
    ),
  ),
  'shares.create': byCaller({ choice }, async (side, { member, ...caller }, { choice }) => {
    if (!member) return undefined;
    const { share, isNew } = await side.app.shares.create(
      { ...caller, member },
      side.id(caller.workspaceId, 'campaigns', choice),
    );
    return { share, isNew };
  }),
  'campaigns.recordClicks': inWorkspace({ choice, count: fc.nat(9) }, (side, workspaceId, { choice, count }) =>
    side.app.campaigns.recordClicks(workspaceId, side.id(workspaceId, 'campaigns', choice), count),
  ),
  'contentPillars.update': inWorkspace(
    {
      choice,
      title: optional(name),
      description: optional(text),
      color: optional(fc.constantFrom(...COLORS)),
      status: optional(fc.constantFrom(...CONTENT_PILLAR_STATUSES)),
    },
    (side, workspaceId, { choice, ...change }) =>
      side.app.contentPillars.update(workspaceId, side.id(workspaceId, 'contentPillars', choice), change),
  ),
  'contentPillars.remove': inWorkspace({ choice }, (side, workspaceId, { choice }) =>
    side.app.contentPillars.remove(workspaceId, side.id(workspaceId, 'contentPillars', choice)),
  ),
  'domains.update': inWorkspace(
    {
      choice,
      archived: optional(flag),
      expiredUrl: optional(text),
      notFoundUrl: optional(text),
      placeholder: optional(text),
    },
    (side, workspaceId, { choice, ...change }) =>
      side.app.domains.update(workspaceId, side.id(workspaceId, 'domains', choice), change),
  ),
  'domains.verify': inWorkspace({ choice }, (side, workspaceId, { choice }) =>
    side.app.domains.verify(workspaceId, side.id(workspaceId, 'domains', choice)),
  ),
  'groups.update': inWorkspace(
    { choice, name: optional(name), description: optional(text) },
    (side, workspaceId, { choice, ...change }) =>
      side.app.groups.update(workspaceId, side.id(workspaceId, 'groups', choice), change),
  ),
  'inspirationQuestions.update': inWorkspace(
    { choice, change: questionChange },
    (side, workspaceId, { choice, change }) =>
      side.app.inspirationQuestions.update(
        workspaceId,
        side.id(workspaceId, 'inspirationQuestions', choice),
        withGroupIds(side, workspaceId, 'groups', change),
      ),
  ),
  'inspirationQuestions.remove': inWorkspace({ choice }, (side, workspaceId, { choice }) =>
    side.app.inspirationQuestions.remove(workspaceId, side.id(workspaceId, 'inspirationQuestions', choice)),
  ),
  'tags.rename': inWorkspace({ choice, name }, (side, workspaceId, { choice, name }) =>
    side.app.tags.rename(workspaceId, side.id(workspaceId, 'tags', choice), name),
  ),
  'tags.remove': inWorkspace({ choice }, (side, workspaceId, { choice }) =>
    side.app.tags.remove(workspaceId, side.id(workspaceId, 'tags', choice)),
  ),
};

const reading = {
  'workspaces.get': callOf({ at: fc.nat(1) }, (side, { at }) => side.app.workspaces.get(side.workspace(at))),
  'apiKeys.get': inWorkspace({ choice }, (side, workspaceId, { choice }) =>
    side.app.apiKeys.get(workspaceId, side.id(workspaceId, 'apiKeys', choice)),
  ),
  'campaigns.get': byCaller({ choice }, async (side, caller, { choice }) =>
    toComparableCampaign(await side.app.campaigns.get(caller, side.id(caller.workspaceId, 'campaigns', choice))),
  ),
  'campaigns.getBrief': inWorkspace({ choice }, (side, workspaceId, { choice }) =>
    side.app.campaigns.getBrief(workspaceId, side.id(workspaceId, 'campaigns', choice)),
  ),
  'contentPillars.get': inWorkspace({ choice }, (side, workspaceId, { choice }) =>
    side.app.contentPillars.get(workspaceId, side.id(workspaceId, 'contentPillars', choice)),
  ),
  'domains.get': inWorkspace({ choice }, (side, workspaceId, { choice }) =>
    side.app.domains.get(workspaceId, side.id(workspaceId, 'domains', choice)),
  ),
  'inspirationQuestions.get': inWorkspace({ choice }, (side, workspaceId, { choice }) =>
    side.app.inspirationQuestions.get(workspaceId, side.id(workspaceId, 'inspirationQuestions', choice)),
  ),
  'groups.get': inWorkspace({ choice }, (side, workspaceId, { choice }) =>
    side.app.groups.get(workspaceId, side.id(workspaceId, 'groups', choice)),
  ),
  'tags.get': inWorkspace({ choice }, (side, workspaceId, { choice }) =>
    side.app.tags.get(workspaceId, side.id(workspaceId, 'tags', choice)),
  ),
};

const nameListQuery = {
  ...paging,
  search: optional(term),
  sortBy: fc.constantFrom(...NAME_SORTS),
  sortOrder: fc.constantFrom('asc', 'desc'),
} as const;

const listing = {
  'campaigns.list': byCaller(
    {
      ...paging,
      domain: rarelyPresent(fc.option(slugLabel)),
      tags: rarelyPresent(choices),
      tagNames: rarelyPresent(fc.array(name, { minLength: 1, maxLength: 3 })),
      user: rarelyPresent(choice),
      includeArchived: flag,
      filter: rarelyPresent(fc.constantFrom(...CAMPAIGN_DATE_FILTERS)),
      search: optional(term),
      sortBy: fc.constantFrom(...CAMPAIGN_SORTS),
      limit: rarelyPresent(fc.integer({ min: 1, max: 9 })),
    },
    (side, caller, { domain, tags, user, ...query }) =>
      listComparableCampaigns(side.app, caller, {
        ...query,
        domain: domain && side.slug(domain),
        tagIds: tags && side.ids(caller.workspaceId, 'tags', tags),
        userId: user && side.id(caller.workspaceId, 'members', user),
      }),
  ),
  'shares.list': inWorkspace(
    {
      ...paging,
      choice,
      member: rarelyPresent(choice),
      sortBy: fc.constantFrom(...SHARE_SORTS),
      sortOrder: fc.constantFrom('asc', 'desc'),
    },
    (side, workspaceId, { choice, member, ...query }) =>
      side.app.shares.list(workspaceId, side.id(workspaceId, 'campaigns', choice), {
        ...query,
        memberId: member && side.id(workspaceId, 'members', member),
      }),
  ),
  'contentPillars.list': inWorkspace(
    {
      ...paging,
      sortBy: fc.constantFrom(...CONTENT_PILLAR_SORTS),
      sortOrder: fc.constantFrom('asc', 'desc'),
      search: optional(term),
      ids: rarelyPresent(fc.array(choice, { maxLength: 8 })),
    },
    (side, workspaceId, { ids, ...query }) =>
      side.app.contentPillars.list(workspaceId, { ...query, ids: ids && side.ids(workspaceId, 'contentPillars', ids) }),
  ),
  'domains.list': inWorkspace(
    { ...paging, includeArchived: flag, search: optional(fc.constantFrom('a', '.', 'bücher', 'xn--', 'BÜ', '*')) },
    (side, workspaceId, query) => side.app.domains.list(workspaceId, query),
  ),
  'inspirationQuestions.list': byCaller(
    {
      ...paging,
      search: optional(term),
      userType: rarelyPresent(fc.constantFrom(...USER_TYPES)),
      groups: rarelyPresent(choices),
      includeArchived: flag,
      isActive: rarelyPresent(flag),
      availableToMe: flag,
    },
    (side, caller, { groups, ...query }) =>
      side.app.inspirationQuestions.list(caller, {
        ...query,
        groupIds: groups && side.ids(caller.workspaceId, 'groups', groups),
      }),
  ),
  'groups.list': inWorkspace(nameListQuery, (side, workspaceId, query) => side.app.groups.list(workspaceId, query)),
  'tags.list': inWorkspace(nameListQuery, (side, workspaceId, query) => side.app.tags.list(workspaceId, query)),
};

/**
 * The use cases that the steps call. `useCases` does not compile if it lacks one of them. Some are excluded, because
 * each run calls them before or after the steps (`workspaces.create` and `iterate`), or because `Side.caller` calls
 * them (`recordUse`). The links are excluded, because no step opens one. No run calls `workspaces.iterate`.
 */
type UseCase = Exclude<
  UseCaseName,
  'workspaces.create' | 'apiKeys.recordUse' | `links.${string}` | `${string}.iterate`
>;

const useCases: Readonly<Record<UseCase, fc.Arbitrary<UseCaseCall>>> = {
  ...creating,
  ...changing,
  ...reading,
  ...listing,
};

/** Shortens a text in which a part is repeated a hundred times or more. */
const shortenRepetitions = (text: string) => text.replaceAll(/(.{1,10}?)\1{99,}/gsu, '$1…');

/** Creates steps with the use cases of a table. */
function stepsOf(table: object): fc.Arbitrary<Step> {
  const steps = (Object.keys(table) as UseCase[]).map((useCase) =>
    useCases[useCase].map(
      (call): Step => ({
        useCase,
        creates: useCase in creating && useCase !== 'runOnce' ? (useCase.split('.')[0] as RecordName) : undefined,
        ...call,
        [fc.toStringMethod]: () =>
          `\n  ${call.wait} ms later: ${useCase} ${shortenRepetitions(fc.stringify(call.input))}`,
      }),
    ),
  );
  return fc.oneof(...steps);
}

const mixed = fc.oneof(
  { weight: 1, arbitrary: stepsOf(creating) },
  { weight: 2, arbitrary: stepsOf(changing) },
  { weight: 1, arbitrary: stepsOf(reading) },
  { weight: 4, arbitrary: stepsOf(listing) },
);

const repeat = (step: fc.Arbitrary<Step>, minLength: number, maxLength: number) =>
  fc.array(step, { minLength, maxLength, size: 'max' });

/** Steps that create records, and then steps of all use cases. */
export const sequences = fc
  .tuple(repeat(stepsOf(creatingFirst), 10, 20), repeat(stepsOf(creating), 20, 40), repeat(mixed, 60, 120))
  .map((parts) => parts.flat());

/** Returns a page of campaigns with the fields of a list. A storage may omit the other fields. */
export async function listComparableCampaigns(
  app: Application,
  actor: Actor,
  query: CampaignQuery,
): Promise<Page<unknown>> {
  const { items, hasNext } = await app.campaigns.list(actor, query);
  return { items: items.map(toComparableCampaign), hasNext };
}

function toComparableCampaign({ hasShared, ...campaign }: CampaignView): readonly unknown[] {
  return [hasShared, ...CAMPAIGN_SUMMARY_FIELDS.map((name) => campaign[name])];
}
