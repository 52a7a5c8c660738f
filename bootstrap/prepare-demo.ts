import { createStorage, type StorageEngine } from '../adapters/persistence/storage-engine.ts';
import { type ApiKey, getEnd, hashSecret } from '../core/access/api-key.ts';
import { Application, type Storage } from '../core/application.ts';
import { CoreError } from '../core/shared/core-error.ts';
import type { System } from '../core/shared/system.ts';
import { removeFinalPeriod } from '../core/shared/text.ts';
import { ADMIN_EMAIL, createDemo, DEMO_NAME, type Demo } from './demo.ts';
import type { Settings } from './settings.ts';
import { StartupError } from './startup-error.ts';
import { storages } from './storages.ts';

/** The result of `prepareDemo`. */
export interface PreparedDemo {
  /** The demo workspace, if its API key is known: the workspace is new, or `DEMO_API_KEY` is set. */
  readonly demo: Demo | undefined;
  readonly firstWorkspaceId: string | undefined;
}

/**
 * Creates the demo workspace if `DEMO_WORKSPACE` is `true` and the storage has no workspace yet. If `DEMO_API_KEY` is
 * set, ensures that it is a key of the admin of the demo workspace. All changes are one transaction, so that a crash
 * leaves no part of the workspace, and servers that start at the same time create it once. Rejects with a
 * `StartupError` if the workspace or the key cannot be created or used.
 */
export async function prepareDemo(engine: StorageEngine, system: System, settings: Settings): Promise<PreparedDemo> {
  const { STORAGE, DEMO_WORKSPACE, DEMO_API_KEY } = settings;
  const [first] = await engine.workspaces.list('', 1);
  // If it is clear that nothing must be created, there is no transaction, so that the start does not wait for another
  // process that writes.
  if (!DEMO_WORKSPACE || (first && DEMO_API_KEY === undefined)) return { demo: undefined, firstWorkspaceId: first?.id };
  try {
    return await engine.runInTransaction((transaction) => createMissing(transaction, system, DEMO_API_KEY));
  } catch (error) {
    if (error instanceof StartupError) throw error;
    const setting = storages[STORAGE].locationSetting ?? 'STORAGE';
    const reason = removeFinalPeriod((error as Error).message);
    throw new StartupError([
      `${setting}: the demo workspace cannot be created (${reason}), fix this problem or set DEMO_WORKSPACE=false`,
    ]);
  }
}

/**
 * Creates the demo workspace if the storage has no workspace. Otherwise, if `secret` is given, ensures that it is an
 * API key of the demo workspace (`ensureKey`).
 */
async function createMissing(engine: StorageEngine, system: System, secret?: string): Promise<PreparedDemo> {
  const storage = createStorage(engine);
  const app = new Application(storage, system);
  const [first] = await engine.workspaces.list('', 1);
  if (!first) {
    const demo = await createDemo(app, system.now(), secret);
    return { demo, firstWorkspaceId: demo.workspaceId };
  }
  const demo = secret === undefined ? undefined : await ensureKey(app, storage, system, secret);
  return { demo, firstWorkspaceId: first.id };
}

/**
 * Creates the API key `secret` of the admin of the demo workspace, unless it exists. Throws if the key exists but
 * cannot be used, or if the demo workspace or its admin is missing.
 */
async function ensureKey(app: Application, storage: Storage, system: System, secret: string): Promise<Demo> {
  const { workspaceId, memberId } = await findDemoAdmin(app);
  const existing = await storage.apiKeys.findByHash(hashSecret(secret, system.sha256));
  if (existing === undefined) {
    const creation = app.apiKeys.create(workspaceId, { label: 'demo', memberId, secret });
    await creation.catch((error) => {
      throw error instanceof CoreError ? createError(error.message) : error;
    });
  } else if (existing.memberId !== memberId || !isUsable(existing, system.now())) throw createError(UNUSABLE_KEY);
  return { workspaceId, apiKey: secret };
}

async function findDemoAdmin(app: Application): Promise<{ readonly workspaceId: string; readonly memberId: string }> {
  for await (const { id: workspaceId, name } of app.workspaces.iterate()) {
    if (name !== DEMO_NAME) continue;
    const member = await app.members.find(workspaceId, ADMIN_EMAIL);
    if (member?.role === 'admin') return { workspaceId, memberId: member.id };
  }
  throw createError('the storage has other workspaces, but not the demo workspace with its admin, remove the setting');
}

const UNUSABLE_KEY =
  'this key was revoked, has expired, or is not a full key of the admin of the demo workspace, set another key';

const isUsable = (key: ApiKey, now: number): boolean => key.access === 'full' && getEnd(key) > now;

const createError = (problem: string) => new StartupError([`DEMO_API_KEY: ${problem}`]);
