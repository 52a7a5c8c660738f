import { createMongodbEngine } from '../../adapters/mongodb/engine.ts';
import { createStorage } from '../../adapters/persistence/storage.ts';
import { createNodeSystem } from '../../bootstrap/system.ts';
import { Application } from '../../core/application.ts';

/** Returns the settings of a service that uses a MongoDB, without `DEMO_API_KEY`, which is only for memory storage. */
export function createMongodbSettings(uri: string): Readonly<Record<string, string>> {
  return { STORAGE: 'mongodb', MONGODB_URI: uri, DEMO_API_KEY: undefined as never };
}

/** Runs work with the use cases on a MongoDB, as the command line does. */
export async function withApplication<T>(uri: string, work: (app: Application) => Promise<T>): Promise<T> {
  const { engine, connection } = createMongodbEngine(uri, () => undefined);
  try {
    await connection.waitForFirstAttempt();
    return await work(new Application(createStorage(engine), createNodeSystem()));
  } finally {
    await connection.close();
  }
}

/** Creates a workspace and an API key with full access to it. */
export async function createWorkspace(
  app: Application,
): Promise<{ readonly workspaceId: string; readonly key: string }> {
  const { id: workspaceId } = await app.workspaces.create('Northwind');
  const { secret: key } = await app.apiKeys.create(workspaceId, {});
  return { workspaceId, key };
}
