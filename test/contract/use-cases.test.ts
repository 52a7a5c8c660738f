import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { createMemoryEngine } from '../../adapters/memory/engine.ts';
import { createNodeSystem } from '../../adapters/node/system.ts';
import { createStorage, type StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import { Application } from '../../core/application.ts';
import { CAMPAIGN_DATE_FILTERS, CAMPAIGN_SORTS } from '../../core/campaign/campaign.ts';
import { CONTENT_PILLAR_SORTS } from '../../core/content-pillar/content-pillar.ts';
import { SHARE_SORTS } from '../../core/share/share.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import { parseEndDate, parseStartDate } from '../../core/shared/date.ts';
import { NAME_SORTS } from '../../core/shared/name.ts';
import type { Page, PageRequest } from '../../core/shared/page.ts';
import type { System } from '../../core/shared/system.ts';
import { collectAll } from '../support/collect-all.ts';
import type { TestEngine } from '../support/engines/engine.ts';
import { engines } from '../support/engines/engines.ts';
import { UNKNOWN_ID } from '../support/expected-responses.ts';
import { quickOrLong } from '../support/scale.ts';
import { suite, type Test } from '../support/suite.ts';
import {
  END_DATES,
  listComparableCampaigns,
  type RecordChoice,
  type RecordName,
  type Side,
  START_DATES,
  type Step,
  sequences,
} from './random-steps.ts';

/**
 * The time at which each run starts. It is far in the future, so that a database that removes expired records by its
 * own clock (the TTL index of MongoDB) removes none during the test.
 */
const START_TIME = Date.UTC(2100, 0, 1);
/** The clock of the current run. */
const clock = { now: START_TIME };
const getTime = () => clock.now;
const WORKSPACE_COUNT = 2;
const BOUNDARY_TIMES = [...START_DATES.map(parseStartDate), ...END_DATES.map(parseEndDate)].map(
  (date) => date?.time as number,
);

/**
 * A system that creates the same IDs and secrets for memory and for the other engine. It derives them from the
 * ID of the run, the step, and the number of IDs that the step has created before.
 */
class DeterministicSystem implements System {
  readonly sha256 = createNodeSystem().sha256;
  private step = 0;
  private idCount = 0;

  constructor(
    private readonly runId: string,
    readonly now: () => number,
  ) {}

  beginStep(step: number): void {
    [this.step, this.idCount] = [step, 0];
  }

  newId = (): string => {
    const digits = (value: number, length: number) => value.toString(16).padStart(length, '0');
    return `${this.runId}-${digits(this.step, 4)}-7000-8000-${digits(this.idCount++, 12)}`;
  };

  // Returns the hash of an ID. The key of a short link is the start of a secret, so secrets must start differently, but
  // all IDs of a run start alike.
  newSecret = (): string => this.sha256(this.newId());
}

/** Returns the same engine with the clock of the test instead of its own clock. */
function withClock(engine: StorageEngine): StorageEngine {
  return {
    ...engine,
    now: getTime,
    runInTransaction: (work) => engine.runInTransaction((staged) => work(withClock(staged))),
  };
}

/**
 * Runs the same steps on memory and on another engine, and compares the results. The other engine is opened several
 * times on the same data, and the steps alternate between the opened engines.
 */
class Comparison {
  readonly workspaces: string[] = [];
  private readonly runId = randomBytes(4).toString('hex');
  private readonly secrets: string[] = [];
  private readonly createdRecords: {
    readonly workspaceId: string;
    readonly recordName: RecordName;
    readonly id: string;
  }[] = [];
  private readonly sides: readonly (readonly [DeterministicSystem, Side])[];
  private stepCount = 0;

  constructor(stores: readonly StorageEngine[]) {
    clock.now = START_TIME;
    this.sides = [[createMemoryEngine(getTime)], stores.map(withClock)].map((engines) => {
      const system = new DeterministicSystem(this.runId, getTime);
      const apps = engines.map((engine) => new Application(createStorage(engine), system));
      return [system, this.createSide(() => apps[this.stepCount % apps.length] as Application)] as const;
    });
  }

  /** Creates two workspaces, each with a key of an admin and a key without a member. */
  async createWorkspaces(): Promise<void> {
    for (let i = 0; i < WORKSPACE_COUNT; i++) {
      const workspace = await this.compare('begin', ({ app }) => app.workspaces.create('Northwind'));
      const workspaceId = (workspace as { id: string }).id;
      this.workspaces.push(workspaceId);
      const fields = { name: 'Kim', email: 'kim@example.com', role: 'admin' } as const;
      const admin = await this.compare('begin', ({ app }) => app.members.create(workspaceId, fields));
      this.recordCreated('members', admin);
      for (const memberId of [(admin as { id: string }).id, undefined]) {
        const key = await this.compare('begin', async ({ app }) => {
          const { apiKey, secret } = await app.apiKeys.create(workspaceId, { memberId });
          return { ...apiKey, secret };
        });
        this.recordCreated('apiKeys', key);
      }
    }
  }

  /** Runs a step on both sides. Fails if the results differ. */
  async runStep({ useCase, wait, creates, run }: Step): Promise<void> {
    clock.now += wait;
    const result = await this.compare(useCase, run);
    if (creates) this.recordCreated(creates, result);
  }

  /** Compares the results of every date filter at each time of `START_DATES` and `END_DATES`. */
  async compareDateFilters(): Promise<void> {
    for (const time of BOUNDARY_TIMES) {
      clock.now = time;
      for (const workspaceId of this.workspaces) {
        const all = { page: 1, pageSize: 25, includeArchived: true, sortBy: 'startDate' } as const;
        await this.compare(`date filters at ${time}`, ({ app }) =>
          Promise.all(
            CAMPAIGN_DATE_FILTERS.map((filter) => listComparableCampaigns(app, { workspaceId }, { ...all, filter })),
          ),
        );
      }
    }
  }

  /** Runs an action on both sides, and resolves to its result. Fails if the results differ. */
  async compare(description: string, action: (side: Side) => Promise<unknown>): Promise<unknown> {
    this.stepCount++;
    const [expected, actual] = await Promise.all(
      this.sides.map(([system, side]) => {
        system.beginStep(this.stepCount);
        return settle(action(side));
      }),
    );
    assert.deepEqual(actual, expected, description);
    return expected;
  }

  private recordCreated(recordName: RecordName, result: unknown): void {
    for (const { id, workspaceId, secret } of [result].flat() as { [_ in string]?: string }[]) {
      if (id && workspaceId) this.createdRecords.push({ workspaceId, recordName, id });
      if (secret) this.secrets.push(secret);
    }
  }

  private createSide(app: () => Application): Side {
    const findId = (workspaceId: string, recordName: RecordName, { from, at }: RecordChoice): string => {
      const candidates = this.createdRecords.filter(
        (it) =>
          it.recordName === recordName && (it.workspaceId === workspaceId) === (from === 'own') && from !== 'none',
      );
      return candidates[at % candidates.length]?.id ?? UNKNOWN_ID;
    };
    return {
      get app() {
        return app();
      },
      workspace: (at) => this.workspaces[at] as string,
      caller: async (at) => {
        const { apiKeys } = app();
        const { caller } = await apiKeys.authenticate(this.secrets[at % this.secrets.length] as string);
        await apiKeys.recordUse(caller.workspaceId, caller.keyId);
        return caller;
      },
      id: findId,
      ids: (workspaceId, recordName, choices) => [
        ...new Set(choices.map((choice) => findId(workspaceId, recordName, choice))),
      ],
      now: () => new Date(clock.now).toISOString(),
      slug: (label) => `${label}.x${this.runId}.example`,
    };
  }
}

/** Resolves to the result or the error as a value to compare. A field that is `undefined` equals a missing field. */
async function settle(work: Promise<unknown>): Promise<unknown> {
  const toComparable = (_: string, value: unknown) =>
    value instanceof Error
      ? { error: value instanceof CoreError ? value.kind : value.name, message: value.message }
      : value;
  const result = await work.catch((error: unknown) => error);
  return JSON.parse(JSON.stringify({ result }, toComparable)).result ?? 'nothing';
}

type List = (page: PageRequest) => Promise<Page<unknown>>;

/** Returns a function for each list in each order. The function reads a page. */
function createLists(app: Application, workspaceId: string): List[] {
  const actor = { workspaceId };
  return [
    ...[true, false].flatMap((includeArchived): List[] => [
      ...CAMPAIGN_SORTS.map(
        (sortBy): List =>
          (page) =>
            listComparableCampaigns(app, actor, { ...page, sortBy, includeArchived }),
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
    ...[app.groups, app.tags].flatMap((records) =>
      NAME_SORTS.flatMap((sortBy) =>
        (['asc', 'desc'] as const).map(
          (sortOrder): List =>
            (page) =>
              records.list(workspaceId, { ...page, sortBy, sortOrder }),
        ),
      ),
    ),
  ];
}

async function readAllPages(list: List): Promise<unknown[]> {
  const pages: Page<unknown>[] = [];
  do pages.push(await list({ page: pages.length + 1, pageSize: 4 }));
  while (pages.at(-1)?.hasNext);
  return pages;
}

/** Returns all pages of the shares of each campaign, in each order. */
async function readAllShares(app: Application, workspaceId: string): Promise<unknown[]> {
  const sharedCampaigns = (await collectAll(app.campaigns.iterate(workspaceId))).filter(({ shares }) => shares > 0);
  const lists = sharedCampaigns.flatMap(({ id }) =>
    SHARE_SORTS.flatMap((sortBy) =>
      (['asc', 'desc'] as const).map(
        (sortOrder): List =>
          (page) =>
            app.shares.list(workspaceId, id, { ...page, sortBy, sortOrder }),
      ),
    ),
  );
  return Promise.all(lists.map(readAllPages));
}

function readAllRecords(app: Application, workspaceId: string): Promise<unknown[]> {
  const { apiKeys, campaigns, contentPillars, domains, groups, members, tags } = app;
  const all = [apiKeys, campaigns, contentPillars, domains, groups, members, tags];
  return Promise.all(all.map((records) => collectAll<unknown>(records.iterate(workspaceId))));
}

/** Returns a test that runs random steps on memory, and on an engine that is open twice on the same data. */
function createTest({ name, createDatabase, open }: TestEngine): [title: string, test: Test] {
  const test = async () => {
    const { location, remove } = await createDatabase();
    const opened = [await open(location, getTime), await open(location, getTime)];
    try {
      await fc.assert(
        fc.asyncProperty(sequences, async (steps) => {
          const comparison = new Comparison(opened.map(({ engine }) => engine));
          await comparison.createWorkspaces();
          for (const step of steps) await comparison.runStep(step);
          await comparison.compareDateFilters();
          for (const id of comparison.workspaces) {
            await comparison.compare('all pages', ({ app }) => Promise.all(createLists(app, id).map(readAllPages)));
            await comparison.compare('everything', ({ app }) => readAllRecords(app, id));
            await comparison.compare('all shares', ({ app }) => readAllShares(app, id));
          }
        }),
        { numRuns: quickOrLong(8, 300), interruptAfterTimeLimit: quickOrLong(40_000, 500_000) },
      );
    } finally {
      for (const { close } of opened) await close();
      await remove();
    }
  };
  return [`return the same results on ${name} as on memory, in any sequence`, test];
}

const allEngines = await Promise.all(Object.values(engines).map((load) => load()));
const comparedEngines = allEngines.filter(({ isModel }) => !isModel);

suite('The use cases', comparedEngines.map(createTest));
