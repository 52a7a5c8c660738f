/**
 * Returns the settings of a service on MongoDB. They remove the settings of the demo workspace, which are not allowed
 * with MongoDB.
 */
export function createMongodbSettings(uri: string): Readonly<Record<string, string>> {
  return { STORAGE: 'mongodb', MONGODB_URI: uri, DEMO_WORKSPACE: undefined as never, DEMO_API_KEY: undefined as never };
}
