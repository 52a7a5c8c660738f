import fc from 'fast-check';
import type { Actor, Caller } from '../../core/access/caller.ts';
import { INVITATIONS, ROLES, SEAT_TYPES } from '../../core/access/member.ts';
import type { Application } from '../../core/application.ts';
import {
  CAMPAIGN_SORTS,
  CAMPAIGN_STATUSES,
  CAMPAIGN_SUMMARY_FIELDS,
  CAMPAIGN_WINDOWS,
} from '../../core/campaign/campaign.ts';
import type { CampaignQuery, CampaignView } from '../../core/campaign/campaign-service.ts';
import { CONTENT_PILLAR_STATUSES } from '../../core/content-pillar/content-pillar.ts';
import { CONTENT_PILLAR_SORTS } from '../../core/content-pillar/content-pillar-service.ts';
import { ICONS, USER_TYPES } from '../../core/inspiration-question/inspiration-question.ts';
import { COLORS } from '../../core/shared/color.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import type { Page } from '../../core/shared/page.ts';
import { DAY, MINUTE, SECOND } from '../support/core.ts';
import { campaignBody } from '../support/tenants.ts';

export type Kind =
  | 'members'
  | 'campaigns'
  | 'contentPillars'
  | 'domains'
  | 'groups'
  | 'inspirationQuestions'
  | 'tags'
  | 'apiKeys';

/** One of the records that were made: mostly the workspace's own. */
export interface Pick {
  readonly from: 'own' | 'other' | 'none';
  readonly at: number;
}

/** An application, and what steps have made in it so far. */
export interface Side {
  readonly app: Application;
  workspace(at: number): string;
  caller(at: number): Promise<Caller>;
  id(workspaceId: string, kind: Kind, pick: Pick): string;
  ids(workspaceId: string, kind: Kind, picks: readonly Pick[]): string[];
  slug(letter: string): string;
  now(): string;
}

/** What is asked of a use case, in milliseconds after the last one. */
interface Deed {
  readonly wait: number;
  readonly asked: unknown;
  run(side: Side): Promise<unknown>;
}

/** A use case with what it is asked. */
export interface Step extends Deed {
  readonly what: UseCase;
  /** Which kind of record it makes, if any. */
  readonly makes: Kind | undefined;
  /** How a sequence that fails is printed. */
  [fc.toStringMethod](): string;
}

/** What texts are made of: cases and accents of many kinds, and all that means something in a pattern. */
const FRAGMENTS = [
  ...'a B Straße STRASSE ß ẞ İ i I ı Σ σ ς É e\u0301 é e ﬁ ǰ J\u030c Ω \u2126 \u00b5 \u03bc \u017f s 日本 🏆 👩‍💻'.split(
    ' ',
  ),
  ...['\uffee', '\u{10ffff}'],
  ...'. * .* ( ) [a-z] {2} ^ $ | ? + \\ \\d / - # " \' % _ $where'.split(' '),
  ...[' ', '\t', '\n', '\r', '\u2028', '\u00a0', '\u200b'],
];

const fragment = fc.constantFrom(...FRAGMENTS);
const textOf = (fragments: number) =>
  fc.array(fragment, { minLength: 1, maxLength: fragments, size: 'max' }).map((parts) => parts.join(''));
const text = fc.oneof(
  { weight: 19, arbitrary: textOf(12) },
  { weight: 1, arbitrary: fragment.map((it) => `${it.repeat(2_000)}end`) },
);
const term = fc.oneof({ weight: 4, arbitrary: fragment }, { weight: 1, arbitrary: textOf(2) });
const name = fc.oneof(fc.constantFrom('One', 'ONE', 'one', 'Σίσυφοσ', 'ΣΊΣΥΦΟΣ', 'Σίσυφος', 'two'), text);
const letter = fc.constantFrom('a', 'b', 'c', 'xn--bcher-kva');
const flag = fc.boolean();

const often = <T>(usual: T, ...rare: T[]) => fc.constantFrom<T[]>(...Array<T>(12).fill(usual), ...rare);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const seldom = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });

const at = fc.nat(20);
const pick: fc.Arbitrary<Pick> = fc.record({ from: often<Pick['from']>('own', 'other', 'none'), at });
const picks = fc.array(pick, { maxLength: 2 });
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

type Asked<T> = { [F in keyof T]: fc.Arbitrary<T[F]> };

function step<T>(asked: Asked<T>, run: (side: Side, asked: T) => unknown) {
  return fc
    .record({ wait, asked: fc.record(asked) as fc.Arbitrary<T> })
    .map(({ wait, asked }): Deed => ({ wait, asked, run: async (side) => run(side, asked) }));
}

/** A use case in a workspace, mostly the first. */
function inWorkspace<T>(
  asked: Asked<T>,
  run: (side: Side, workspaceId: string, asked: T) => unknown,
): fc.Arbitrary<Deed> {
  const all = { workspace: fc.constantFrom(0, 0, 0, 1), asked: fc.record(asked) as fc.Arbitrary<T> };
  return step(all, (side, { workspace, asked }) => run(side, side.workspace(workspace), asked));
}

/** A use case in the name of whoever has a key. */
function byCaller<T>(asked: Asked<T>, run: (side: Side, caller: Caller, asked: T) => unknown): fc.Arbitrary<Deed> {
  const all = { caller: fc.oneof(fc.constant(0), at), asked: fc.record(asked) as fc.Arbitrary<T> };
  return step(all, async (side, { caller, asked }) => run(side, await side.caller(caller), asked));
}

/** Stands for the moment at which the step is done. */
const NOW = 'now';
export const START_DATES = ['2100-01-01', '2100-01-02T09:30:00+02:00', '2100-01-01T00:00:00.001Z', '2100-02-01'];
export const END_DATES = ['2100-02-01', '2100-01-02', '2100-03-01T00:00', '2100-01-01T23:59:59.999Z'];

const campaignFields = fc.record({
  name: text,
  description: text,
  status: fc.constantFrom('published', ...CAMPAIGN_STATUSES),
  startDate: fc.constantFrom(NOW, ...START_DATES),
  endDate: fc.constantFrom(NOW, ...END_DATES),
  domain: seldom(fc.option(letter)),
  tags: maybe(picks),
  groups: seldom(picks),
  pillar: seldom(fc.option(pick)),
  targetShares: maybe(fc.maxSafeNat()),
  resources: maybe(fc.constant([{ url: 'https://example.com/', type: undefined, width: null, size: 0.5 }])),
});
type CampaignFields = typeof campaignFields extends fc.Arbitrary<infer T> ? T : never;

function newCampaign(side: Side, workspaceId: string, { domain, tags, groups, pillar, ...fields }: CampaignFields) {
  const dateOf = (date: string) => (date === NOW ? side.now() : date);
  return {
    ...campaignBody(),
    ...fields,
    startDate: dateOf(fields.startDate),
    endDate: dateOf(fields.endDate),
    domain: domain && side.slug(domain),
    tagIds: tags && side.ids(workspaceId, 'tags', tags),
    groupIds: groups && side.ids(workspaceId, 'groups', groups),
    contentPillarId: pillar && side.id(workspaceId, 'contentPillars', pillar),
  };
}

const questionFields = {
  description: maybe(text),
  icon: maybe(fc.constantFrom(...ICONS)),
  userType: maybe(fc.constantFrom(...USER_TYPES)),
  groups: maybe(picks),
  isActive: maybe(flag),
  archived: seldom(flag),
};
const newQuestion = fc.record({ ...questionFields, question: text });
const questionChange = fc.record({ ...questionFields, question: maybe(text) });
const memberFields = {
  role: maybe(fc.constantFrom(...ROLES)),
  seatType: maybe(fc.constantFrom(...SEAT_TYPES)),
  groupIds: seldom(picks),
  invitation: seldom(fc.constantFrom(...INVITATIONS)),
};

/** The fields with the ids of groups in the place of the groups. */
function withIds<F extends string, T extends { readonly [_ in F]?: readonly Pick[] | undefined }>(
  side: Side,
  workspaceId: string,
  field: F,
  fields: T,
): Omit<T, F> & { readonly [_ in F]: string[] | undefined } {
  const groups = fields[field];
  return { ...fields, [field]: groups && side.ids(workspaceId, 'groups', groups) } as never;
}

/** What makes that to which others refer. */
const makingFirst = {
  'members.create': inWorkspace({ ...memberFields, name, email: name }, (side, workspaceId, member) =>
    side.app.members.create(workspaceId, withIds(side, workspaceId, 'groupIds', member)),
  ),
  'contentPillars.create': inWorkspace(
    {
      author: pick,
      batch: batchOf(fc.record({ title: name, color: fc.constantFrom(...COLORS), description: maybe(text) })),
    },
    async (side, workspaceId, { author, batch }) => {
      const authorId = side.id(workspaceId, 'members', author);
      const made = [];
      for (const pillar of batch) made.push(await side.app.contentPillars.create(workspaceId, { ...pillar, authorId }));
      return made;
    },
  ),
  'domains.createOrArchive': inWorkspace(
    { slug: letter, archived: maybe(flag), expiredUrl: maybe(text), placeholder: maybe(text) },
    async (side, workspaceId, { slug, ...request }) => {
      const made = await side.app.domains.createOrArchive(workspaceId, { ...request, slug: side.slug(slug) });
      return { ...made.domain, created: made.created };
    },
  ),
  'groups.create': inWorkspace({ name, description: maybe(text) }, (side, workspaceId, group) =>
    side.app.groups.create(workspaceId, group),
  ),
  'groups.createMany': inWorkspace({ batch: batchOf(name) }, (side, workspaceId, { batch }) =>
    side.app.groups.createMany(
      workspaceId,
      batch.map((name) => ({ name })),
    ),
  ),
  'tags.create': inWorkspace({ name }, (side, workspaceId, { name }) => side.app.tags.create(workspaceId, name)),
  'tags.createMany': inWorkspace({ batch: batchOf(name) }, (side, workspaceId, { batch }) =>
    side.app.tags.createMany(workspaceId, batch),
  ),
};

const making = {
  ...makingFirst,
  'apiKeys.create': inWorkspace(
    { member: maybe(pick), expiresAt: seldom(fc.constantFrom('2100-01-01T00:00:10.000Z', '2100-01-05T00:00:00.000Z')) },
    async (side, workspaceId, { member, expiresAt }) => {
      const memberId = member && side.id(workspaceId, 'members', member);
      const { apiKey, secret } = await side.app.apiKeys.create(workspaceId, { memberId, expiresAt });
      return { ...apiKey, secret };
    },
  ),
  'campaigns.create': byCaller({ fields: campaignFields }, (side, caller, { fields }) =>
    side.app.campaigns.create(caller, newCampaign(side, caller.workspaceId, fields)),
  ),
  'campaigns.createMany': byCaller({ batch: batchOf(campaignFields) }, (side, caller, { batch }) =>
    side.app.campaigns.createMany(
      caller,
      batch.map((fields) => newCampaign(side, caller.workspaceId, fields)),
    ),
  ),
  'inspirationQuestions.create': inWorkspace({ newQuestion }, (side, workspaceId, asked) =>
    side.app.inspirationQuestions.create(workspaceId, withIds(side, workspaceId, 'groups', asked.newQuestion)),
  ),
  'inspirationQuestions.createMany': inWorkspace({ batch: batchOf(newQuestion) }, (side, workspaceId, { batch }) =>
    side.app.inspirationQuestions.createMany(
      workspaceId,
      batch.map((fields) => withIds(side, workspaceId, 'groups', fields)),
    ),
  ),
  once: byCaller(
    { idempotencyKey: letter, fingerprint: often('f', 'g'), name, refuses: often(false, true) },
    (side, { workspaceId, keyId }, { name, refuses, ...request }) =>
      side.app.runOnce({ ...request, workspaceId, keyId, operationId: 'createTag' }, async (app) => {
        const tag = await app.tags.create(workspaceId, name);
        if (refuses) throw new CoreError('conflict', 'the work refuses');
        return { status: 201, body: JSON.stringify(tag) };
      }),
  ),
};

const changing = {
  'members.update': inWorkspace(
    { pick, change: fc.record({ ...memberFields, name: maybe(name) }) },
    (side, workspaceId, { pick, change }) =>
      side.app.members.update(
        workspaceId,
        side.id(workspaceId, 'members', pick),
        withIds(side, workspaceId, 'groupIds', change),
      ),
  ),
  'apiKeys.revoke': inWorkspace({ pick }, (side, workspaceId, { pick }) =>
    side.app.apiKeys.revoke(workspaceId, side.id(workspaceId, 'apiKeys', pick)),
  ),
  'apiKeys.authenticate': byCaller({}, (_, caller) => caller),
  'campaigns.setStatus': inWorkspace(
    { pick, status: fc.constantFrom(...CAMPAIGN_STATUSES) },
    (side, workspaceId, { pick, status }) =>
      side.app.campaigns.setStatus(workspaceId, side.id(workspaceId, 'campaigns', pick), status),
  ),
  'campaigns.recordShare': inWorkspace({ pick, member: pick }, (side, workspaceId, { pick, member }) =>
    side.app.campaigns.recordShare(
      workspaceId,
      side.id(workspaceId, 'campaigns', pick),
      side.id(workspaceId, 'members', member),
    ),
  ),
  'campaigns.recordClicks': inWorkspace({ pick, count: fc.nat(9) }, (side, workspaceId, { pick, count }) =>
    side.app.campaigns.recordClicks(workspaceId, side.id(workspaceId, 'campaigns', pick), count),
  ),
  'contentPillars.update': inWorkspace(
    {
      pick,
      title: maybe(name),
      description: maybe(text),
      color: maybe(fc.constantFrom(...COLORS)),
      status: maybe(fc.constantFrom(...CONTENT_PILLAR_STATUSES)),
    },
    (side, workspaceId, { pick, ...change }) =>
      side.app.contentPillars.update(workspaceId, side.id(workspaceId, 'contentPillars', pick), change),
  ),
  'contentPillars.remove': inWorkspace({ pick }, (side, workspaceId, { pick }) =>
    side.app.contentPillars.remove(workspaceId, side.id(workspaceId, 'contentPillars', pick)),
  ),
  'domains.verify': inWorkspace({ pick }, (side, workspaceId, { pick }) =>
    side.app.domains.verify(workspaceId, side.id(workspaceId, 'domains', pick)),
  ),
  'inspirationQuestions.update': inWorkspace({ pick, change: questionChange }, (side, workspaceId, { pick, change }) =>
    side.app.inspirationQuestions.update(
      workspaceId,
      side.id(workspaceId, 'inspirationQuestions', pick),
      withIds(side, workspaceId, 'groups', change),
    ),
  ),
  'inspirationQuestions.remove': inWorkspace({ pick }, (side, workspaceId, { pick }) =>
    side.app.inspirationQuestions.remove(workspaceId, side.id(workspaceId, 'inspirationQuestions', pick)),
  ),
  'tags.rename': inWorkspace({ pick, name }, (side, workspaceId, { pick, name }) =>
    side.app.tags.rename(workspaceId, side.id(workspaceId, 'tags', pick), name),
  ),
};

const reading = {
  'workspaces.get': step({ at: fc.nat(1) }, (side, { at }) => side.app.workspaces.get(side.workspace(at))),
  'campaigns.get': byCaller({ pick }, async (side, caller, { pick }) =>
    shown(await side.app.campaigns.get(caller, side.id(caller.workspaceId, 'campaigns', pick))),
  ),
  'campaigns.checkMany': byCaller({ batch: batchOf(campaignFields) }, (side, caller, { batch }) =>
    side.app.campaigns.checkMany(
      caller,
      batch.map((fields) => newCampaign(side, caller.workspaceId, fields)),
    ),
  ),
  'groups.checkMany': inWorkspace({ batch: batchOf(name) }, (side, workspaceId, { batch }) =>
    side.app.groups.checkMany(
      workspaceId,
      batch.map((name) => ({ name })),
    ),
  ),
  'inspirationQuestions.checkMany': inWorkspace({ batch: batchOf(newQuestion) }, (side, workspaceId, { batch }) =>
    side.app.inspirationQuestions.checkMany(
      workspaceId,
      batch.map((fields) => withIds(side, workspaceId, 'groups', fields)),
    ),
  ),
  'tags.checkMany': inWorkspace({ batch: batchOf(name) }, (side, workspaceId, { batch }) =>
    side.app.tags.checkMany(workspaceId, batch),
  ),
};

const listing = {
  'campaigns.list': byCaller(
    {
      ...paging,
      domain: seldom(fc.option(letter)),
      tags: seldom(picks),
      tagNames: seldom(fc.array(name, { minLength: 1, maxLength: 3 })),
      user: seldom(pick),
      includeArchived: flag,
      filter: seldom(fc.constantFrom(...CAMPAIGN_WINDOWS)),
      search: maybe(term),
      sortBy: fc.constantFrom(...CAMPAIGN_SORTS),
      limit: seldom(fc.integer({ min: 1, max: 9 })),
    },
    (side, caller, { domain, tags, user, ...query }) =>
      shownCampaigns(side.app, caller, {
        ...query,
        domain: domain && side.slug(domain),
        tagIds: tags && side.ids(caller.workspaceId, 'tags', tags),
        userId: user && side.id(caller.workspaceId, 'members', user),
      }),
  ),
  'contentPillars.list': inWorkspace(
    {
      ...paging,
      sortBy: fc.constantFrom(...CONTENT_PILLAR_SORTS),
      sortOrder: fc.constantFrom('asc', 'desc'),
      search: maybe(term),
      ids: seldom(fc.array(pick, { maxLength: 8 })),
    },
    (side, workspaceId, { ids, ...query }) =>
      side.app.contentPillars.list(workspaceId, { ...query, ids: ids && side.ids(workspaceId, 'contentPillars', ids) }),
  ),
  'domains.list': inWorkspace(
    { ...paging, includeArchived: flag, search: maybe(fc.constantFrom('a', '.', 'bücher', 'xn--', 'BÜ', '*')) },
    (side, workspaceId, query) => side.app.domains.list(workspaceId, query),
  ),
  'inspirationQuestions.list': byCaller(
    {
      ...paging,
      search: maybe(term),
      userType: seldom(fc.constantFrom(...USER_TYPES)),
      groups: seldom(picks),
      includeArchived: flag,
      isActive: seldom(flag),
      availableToMe: flag,
    },
    (side, caller, { groups, ...query }) =>
      side.app.inspirationQuestions.list(caller, {
        ...query,
        groupIds: groups && side.ids(caller.workspaceId, 'groups', groups),
      }),
  ),
};

type Services = {
  [S in keyof Application as Application[S] extends (...args: never[]) => unknown ? never : S]: Application[S];
};
type MethodOf<S extends keyof Services> = `${S}.${keyof Services[S] & string}`;

/**
 * Every use case, or this does not compile: but for those with which a comparison begins and ends, and the one that asks
 * the cache of a process.
 */
type UseCase =
  | Exclude<
      { [S in keyof Services]: MethodOf<S> }[keyof Services],
      'workspaces.create' | 'apiKeys.needsLookup' | `${string}.iterate` | `${string}.flush`
    >
  | 'once';

const useCases: Readonly<Record<UseCase, fc.Arbitrary<Deed>>> = { ...making, ...changing, ...reading, ...listing };

/** What is repeated very often stands there once. */
const inShort = (text: string) => text.replaceAll(/(.{1,10}?)\1{99,}/gsu, '$1…');

/** A step of one of the use cases that a table names. */
function oneOf(table: object): fc.Arbitrary<Step> {
  const steps = (Object.keys(table) as UseCase[]).map((what) =>
    useCases[what].map(
      (deed): Step => ({
        what,
        makes: what in making ? (what.split('.')[0] as Kind) : undefined,
        ...deed,
        [fc.toStringMethod]: () => `\n  ${deed.wait} ms later: ${what} ${inShort(fc.stringify(deed.asked))}`,
      }),
    ),
  );
  return fc.oneof(...steps);
}

const mixed = fc.oneof(
  { weight: 1, arbitrary: oneOf(making) },
  { weight: 2, arbitrary: oneOf(changing) },
  { weight: 1, arbitrary: oneOf(reading) },
  { weight: 4, arbitrary: oneOf(listing) },
);

const some = (step: fc.Arbitrary<Step>, minLength: number, maxLength: number) =>
  fc.array(step, { minLength, maxLength, size: 'max' });

/** Steps that make records, and then all kinds mixed. */
export const sequences = fc
  .tuple(some(oneOf(makingFirst), 10, 20), some(oneOf(making), 20, 40), some(mixed, 60, 120))
  .map((parts) => parts.flat());

/** A page of campaigns with what is shown of them: a storage may leave out the rest. */
export async function shownCampaigns(app: Application, actor: Actor, query: CampaignQuery): Promise<Page<unknown>> {
  const { items, hasNext } = await app.campaigns.list(actor, query);
  return { items: items.map(shown), hasNext };
}

function shown({ hasShared, ...campaign }: CampaignView): readonly unknown[] {
  return [hasShared, ...CAMPAIGN_SUMMARY_FIELDS.map((name) => campaign[name])];
}
