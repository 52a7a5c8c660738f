import type { Entity, RecordStore } from '../../core/shared/record-store.ts';
import type { BatchedRecordStore } from './record-store.ts';

/** The most questions that are asked at once, and the longest that a question waits for those before it. */
const MAX_BATCH_SIZE = 100;
const MAX_BATCH_DELAY_MS = 10;

/** Answers some questions at once, each with the answer at its place, or the promise of one. */
type AnswerAll<Q, A> = (questions: readonly Q[]) => Promise<readonly (A | PromiseLike<A>)[]>;

type Identified = Pick<Entity, 'id'>;

interface PendingItem<Q, A> {
  readonly question: Q;
  resolve(answer: A | PromiseLike<A>): void;
  reject(error: unknown): void;
}

/**
 * Asks at once what came while others were being answered. A question that comes while none is goes out alone and at
 * once; none is answered by what went out before it came.
 */
export class Batcher<Q, A> {
  private waiting: PendingItem<Q, A>[] = [];
  private inFlight = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly answerAll: AnswerAll<Q, A>,
    private readonly onIdle: () => void = () => undefined,
  ) {}

  load(question: Q): Promise<A> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ question, resolve, reject });
      if (this.inFlight === 0 || this.waiting.length >= MAX_BATCH_SIZE) void this.next();
      else this.timer ??= setTimeout(() => this.next(), MAX_BATCH_DELAY_MS);
    });
  }

  private async next(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const batch = this.waiting;
    this.waiting = [];
    this.inFlight++;
    try {
      const answers = await this.answerAll(batch.map(({ question }) => question));
      for (const [i, { resolve }] of batch.entries()) resolve(answers[i] as A);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    this.inFlight--;
    if (this.waiting.length > 0) void this.next();
    else if (this.inFlight === 0) this.onIdle();
  }
}

/** Batches of their own for each key, as long as there is something to ask. */
function batchesByKey<Q, A>(answerAll: (key: string) => AnswerAll<Q, A>): (key: string, question: Q) => Promise<A> {
  const byKey = new Map<string, Batcher<Q, A>>();
  return (key, question) => {
    const batches = byKey.get(key) ?? new Batcher(answerAll(key), () => byKey.delete(key));
    byKey.set(key, batches);
    return batches.load(question);
  };
}

/**
 * The same records, asked for less often (docs/adr/0014-batching.md): of what is asked at the same time, records are read
 * by their ids at once, whatever their workspaces, equal lists are read once, and records are added at once, each with
 * its own refusal. A record that several get is frozen, but not what is in its arrays. In a sharded cluster, each workspace
 * has its own batches, because one unavailable shard would fail a common batch for all workspaces.
 */
export function withBatching<T extends Entity>(
  { addEach, getAcross, ...records }: BatchedRecordStore<T>,
  isSharded: () => boolean,
): RecordStore<T> {
  const scopeOf = (workspaceId: string) => (isSharded() ? workspaceId : '');

  const byIds = batchesByKey<Parameters<RecordStore<T>['getMany']>, readonly Identified[]>(() => async (asked) => {
    const [workspaceId, ids, fields] = asked[0] as (typeof asked)[number];
    if (asked.length === 1) return [await records.getMany(workspaceId, ids, fields)];
    const found = new Map<string, Identified>();
    const workspaceIds = new Set(asked.map(([one]) => one));
    const all = new Set(asked.flatMap(([, some]) => some));
    for (const record of await getAcross([...workspaceIds], [...all], fields)) {
      found.set(`${record.workspaceId} ${record.id}`, Object.freeze(record));
    }
    return asked.map(([one, some]) => [...new Set(some)].flatMap((id) => found.get(`${one} ${id}`) ?? []));
  });
  const getMany = ((workspaceId, ids, fields) =>
    byIds(`${scopeOf(workspaceId)} ${fields}`, [workspaceId, ids, fields])) as RecordStore<T>['getMany'];

  const list = batchesByKey<Parameters<RecordStore<T>['list']>, readonly T[]>(() => async (asked) => {
    const found = (await records.list(...(asked[0] as (typeof asked)[number]))) as readonly T[];
    if (asked.length > 1) for (const record of Object.freeze(found)) Object.freeze(record);
    return asked.map(() => found);
  });

  const add = batchesByKey<T, void>(
    () => async (added) => (added.length === 1 ? [await records.add(added[0] as T)] : addEach(added)),
  );

  return {
    ...records,
    get: (workspaceId, id, fields) => getMany(workspaceId, [id], fields).then(([record]) => record),
    getMany,
    list: ((workspaceId, query) =>
      list(JSON.stringify([workspaceId, query]), [workspaceId, query])) as RecordStore<T>['list'],
    add: (record) => add(scopeOf(record.workspaceId), record),
  };
}
