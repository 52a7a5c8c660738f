import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** A sample workspace of `advocacy seed`, its admin, and the admin's key. */
export interface Sample {
  readonly workspaceId: string;
  readonly memberId: string;
  readonly key: string;
}

/** Parameters of `advocacy seed`. With so few members, each of them has shared some campaigns of a page. */
export const seedParameters = { members: 10, number: 1 };

const CLI = join(import.meta.dirname, '../../bootstrap/cli.js');

/** Creates a sample workspace in a MongoDB database. */
export async function seedDatabase(uri: string, campaigns: number): Promise<Sample> {
  const { members, number } = seedParameters;
  const options = ['--campaigns', campaigns, '--members', members, '--seed-number', number].map(String);
  const child = spawn(process.execPath, [CLI, 'seed', '--json', ...options], {
    env: { ...process.env, STORAGE: 'mongodb', MONGODB_URI: uri },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed, [exitCode]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (exitCode !== 0) throw new Error(`advocacy seed failed with exit code ${exitCode}`);
  return JSON.parse(printed);
}
