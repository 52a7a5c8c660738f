import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { createMemoryStorage } from '../../adapters/memory/storage.ts';
import { mongodbStorage } from '../../adapters/mongodb/storage.ts';
import { createNodeSystem } from '../../bootstrap/system.ts';
import { Application } from '../../core/application.ts';
import { CAMPAIGN_SORTS, CAMPAIGN_WINDOWS } from '../../core/campaign/campaign.ts';
import { CONTENT_PILLAR_SORTS } from '../../core/content-pillar/content-pillar-service.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import { parseEndDate, parseStartDate } from '../../core/shared/date.ts';
import type { Page, PageRequest } from '../../core/shared/page.ts';
import type { System } from '../../core/shared/system.ts';
import type { Storage } from '../../core/storage.ts';
import { collectAll } from '../support/collect-all.ts';
import { UNKNOWN_ID } from '../support/core.ts';
import { mongod } from '../support/mongod.ts';
import { scale } from '../support/scale.ts';
import { suite } from '../support/suite.ts';
import {
  END_DATES,
  type Kind,
  type Pick,
  type Side,
  START_DATES,
  type Step,
  sequences,
  shownCampaigns,
} from './scripted-writes.ts';

/** MongoDB removes by its own clock what has expired, so the clock of the test is ahead of it. */
const START = Date.UTC(2100, 0, 1);
const WORKSPACES = 2;
const MOMENTS = [...START_DATES.map(parseStartDate), ...END_DATES.map(parseEndDate)] as number[];

/** Ids and secrets that both sides make alike: they follow from the run, the step, and how many it took before. */
class SteppedSystem implements System {
  readonly sha256 = createNodeSystem().sha256;
  readonly toUnicode = createNodeSystem().toUnicode;
  readonly monotonicNow = createNodeSystem().monotonicNow;
  private step = 0;
  private taken = 0;

  constructor(
    private readonly run: string,
    readonly now: () => number,
  ) {}

  begin(step: number): void {
    [this.step, this.taken] = [step, 0];
  }

  newId = (): string => {
    const digits = (value: number, length: number) => value.toString(16).padStart(length, '0');
    return `${this.run}-${digits(this.step, 4)}-7000-8000-${digits(this.taken++, 12)}`;
  };

  newSecret = (): string => this.newId().replaceAll('-', '');
}

/** The same storage with the clock of the test in place of the database's. */
function withClock(storage: Storage, now: () => number): Storage {
  return {
    ...storage,
    now,
    runInTransaction: (work) => storage.runInTransaction((staged) => work(withClock(staged, now))),
  };
}

/** The use cases on memory and on MongoDB, side by side; steps go to one and another connection to MongoDB by turns. */
class Comparison {
  readonly workspaces: string[] = [];
  private readonly run = randomBytes(4).toString('hex');
  private readonly secrets: string[] = [];
  private readonly made: { readonly workspaceId: string; readonly kind: Kind; readonly id: string }[] = [];
  private readonly sides: readonly (readonly [SteppedSystem, Side])[];
  private steps = 0;
  private now = START;

  constructor(mongodb: readonly Storage[]) {
    const now = () => this.now;
    this.sides = [[createMemoryStorage(now)], mongodb.map((storage) => withClock(storage, now))].map((storages) => {
      const system = new SteppedSystem(this.run, now);
      const uses = storages.map((storage) => new Application(storage, system));
      return [system, this.side(() => uses[this.steps % uses.length] as Application)] as const;
    });
  }

  /** Two workspaces, each with a key of an admin and one of nobody. */
  async begin(): Promise<void> {
    for (let i = 0; i < WORKSPACES; i++) {
      const workspace = await this.same('begin', ({ app }) => app.workspaces.create('Northwind'));
      const workspaceId = (workspace as { id: string }).id;
      this.workspaces.push(workspaceId);
      const fields = { name: 'Kim', email: 'kim@example.com', role: 'admin' } as const;
      const admin = await this.same('begin', ({ app }) => app.members.create(workspaceId, fields));
      this.remember('members', admin);
      for (const memberId of [(admin as { id: string }).id, undefined]) {
        const key = await this.same('begin', async ({ app }) => {
          const { apiKey, secret } = await app.apiKeys.create(workspaceId, { memberId });
          return { ...apiKey, secret };
        });
        this.remember('apiKeys', key);
      }
    }
  }

  /** Does a step on both sides, which must answer the same. */
  async step({ what, wait, makes, run }: Step): Promise<void> {
    this.now += wait;
    const answer = await this.same(what, run);
    if (makes) this.remember(makes, answer);
  }

  /** Compares every window, at each moment at which campaigns start or end. */
  async windows(): Promise<void> {
    for (const moment of MOMENTS) {
      this.now = moment;
      for (const workspaceId of this.workspaces) {
        const all = { page: 1, pageSize: 25, includeArchived: true, sortBy: 'startDate' } as const;
        await this.same(`windows at ${moment}`, ({ app }) =>
          Promise.all(CAMPAIGN_WINDOWS.map((filter) => shownCampaigns(app, { workspaceId }, { ...all, filter }))),
        );
      }
    }
  }

  async same(what: string, act: (side: Side) => Promise<unknown>): Promise<unknown> {
    this.steps++;
    const [expected, actual] = await Promise.all(
      this.sides.map(([system, side]) => {
        system.begin(this.steps);
        return answerOf(act(side));
      }),
    );
    assert.deepEqual(actual, expected, what);
    return expected;
  }

  private remember(kind: Kind, answer: unknown): void {
    for (const { id, workspaceId, secret } of [answer].flat() as { [_ in string]?: string }[]) {
      if (id && workspaceId) this.made.push({ workspaceId, kind, id });
      if (secret) this.secrets.push(secret);
    }
  }

  private side(app: () => Application): Side {
    const idOf = (workspaceId: string, kind: Kind, { from, at }: Pick): string => {
      const some = this.made.filter(
        (it) => it.kind === kind && (it.workspaceId === workspaceId) === (from === 'own') && from !== 'none',
      );
      return some[at % some.length]?.id ?? UNKNOWN_ID;
    };
    return {
      get app() {
        return app();
      },
      workspace: (at) => this.workspaces[at] as string,
      caller: async (at) => {
        const { apiKeys } = app();
        const caller = await apiKeys.authenticate(this.secrets[at % this.secrets.length] as string);
        await apiKeys.flush();
        return caller;
      },
      id: idOf,
      ids: (workspaceId, kind, picks) => [...new Set(picks.map((pick) => idOf(workspaceId, kind, pick)))],
      now: () => new Date(this.now).toISOString(),
      slug: (letter) => `${letter}.x${this.run}.example`,
    };
  }
}

/** What came of it, as it can be compared: a field that is not there and one that is `undefined` are the same. */
async function answerOf(work: Promise<unknown>): Promise<unknown> {
  const told = (_: string, value: unknown) =>
    value instanceof Error
      ? { refused: value instanceof CoreError ? value.kind : value.name, message: value.message }
      : value;
  const answer = await work.catch((error: unknown) => error);
  return JSON.parse(JSON.stringify({ answer }, told)).answer ?? 'nothing';
}

type List = (page: PageRequest) => Promise<Page<unknown>>;

/** Every list in every order. */
function listsOf(app: Application, workspaceId: string): List[] {
  const actor = { workspaceId };
  return [
    ...[true, false].flatMap((includeArchived): List[] => [
      ...CAMPAIGN_SORTS.map(
        (sortBy): List =>
          (page) =>
            shownCampaigns(app, actor, { ...page, sortBy, includeArchived }),
      ),
      (page) => app.inspirationQuestions.list(actor, { ...page, includeArchived, availableToMe: false }),
      (page) => app.domains.list(workspaceId, { ...page, includeArchived }),
    ]),
    ...CONTENT_PILLAR_SORTS.flatMap((sortBy) =>
      (['asc', 'desc'] as const).map(
        (sortOrder): List =>
          (page) =>
            app.contentPillars.list(workspaceId, { ...page, sortBy, sortOrder }),
      ),
    ),
  ];
}

async function pagesOf(list: List): Promise<unknown[]> {
  const pages: Page<unknown>[] = [];
  do pages.push(await list({ page: pages.length + 1, pageSize: 4 }));
  while (pages.at(-1)?.hasNext);
  return pages;
}

function readAllLists(app: Application, workspaceId: string): Promise<unknown[]> {
  const { apiKeys, campaigns, contentPillars, domains, groups, members, tags } = app;
  const all = [apiKeys, campaigns, contentPillars, domains, groups, members, tags];
  return Promise.all(all.map((records) => collectAll<unknown>(records.iterate(workspaceId))));
}

suite('MongoDB and memory', {
  'answer the same to whatever sequence of use cases, and have the same lists after it': async () => {
    const { uri, stop } = await mongod();
    const opened = [uri, uri].map((at) => mongodbStorage(at, () => undefined));
    try {
      await fc.assert(
        fc.asyncProperty(sequences, async (steps) => {
          const comparison = new Comparison(opened.map(({ storage }) => storage));
          await comparison.begin();
          for (const step of steps) await comparison.step(step);
          await comparison.windows();
          for (const id of comparison.workspaces) {
            await comparison.same('all pages', ({ app }) => Promise.all(listsOf(app, id).map(pagesOf)));
            await comparison.same('everything', ({ app }) => readAllLists(app, id));
          }
        }),
        { numRuns: scale(8, 300), interruptAfterTimeLimit: scale(40_000, 500_000) },
      );
    } finally {
      for (const { connection } of opened) await connection.close();
      await stop();
    }
  },
});
