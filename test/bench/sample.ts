import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** A sample workspace as `advocacy seed` makes it, its admin, and the admin's key. */
export interface Sample {
  readonly workspaceId: string;
  readonly memberId: string;
  readonly key: string;
}

/** Sample workspaces of a database, or of the service on memory storage, which tells what they take. */
export interface Seeded {
  readonly samples: readonly Sample[];
  /** Bytes of the heap that a campaign takes in all, and those of the texts that were sent. */
  readonly heap?: number;
  readonly texts?: number;
}

/** So few members that each has shared some campaigns of a page. */
export const seedParameters = { members: 10, number: 1 };

const CLI = join(import.meta.dirname, '../../bootstrap/cli.js');

/** Makes a sample workspace in a MongoDB. */
export async function seedDatabase(uri: string, campaigns: number): Promise<Sample> {
  const { members, number } = seedParameters;
  const given = ['--campaigns', campaigns, '--members', members, '--seed-number', number].map(String);
  const child = spawn(process.execPath, [CLI, 'seed', '--json', ...given], {
    env: { ...process.env, STORAGE: 'mongodb', MONGODB_URI: uri },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed, [exitCode]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (exitCode !== 0) throw new Error(`advocacy seed ended with exit code ${exitCode}`);
  return JSON.parse(printed);
}
