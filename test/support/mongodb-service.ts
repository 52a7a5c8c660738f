import { mongodbStorage } from '../../adapters/mongodb/storage.ts';
import { createNodeSystem } from '../../bootstrap/system.ts';
import { Application } from '../../core/application.ts';

/** The settings of a service on a MongoDB: memory storage's key of the demo is left out. */
export function onMongodb(uri: string): Readonly<Record<string, string>> {
  return { STORAGE: 'mongodb', MONGODB_URI: uri, DEMO_API_KEY: undefined as never };
}

/** Does something with the use cases on a MongoDB, as the command line does. */
export async function withUseCases<T>(uri: string, work: (app: Application) => Promise<T>): Promise<T> {
  const { storage, connection } = mongodbStorage(uri, () => undefined);
  try {
    await connection.firstAttempt();
    return await work(new Application(storage, createNodeSystem()));
  } finally {
    await connection.close();
  }
}

/** Makes a workspace and a key to it that may do everything. */
export async function newWorkspace(app: Application): Promise<{ readonly workspaceId: string; readonly key: string }> {
  const { id: workspaceId } = await app.workspaces.create('Northwind');
  const { secret: key } = await app.apiKeys.create(workspaceId, {});
  return { workspaceId, key };
}
