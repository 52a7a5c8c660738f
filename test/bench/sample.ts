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

/** The number of members. It is small, so that each member has shared many of the newest campaigns, which are on the first pages. */
const MEMBER_COUNT = 10;

const CLI_PATH = join(import.meta.dirname, '../../bootstrap/cli.js');

/** Creates a sample workspace in the database of a service with the given settings. */
export async function seedDatabase(settings: Readonly<Record<string, string>>, campaigns: number): Promise<Sample> {
  const options = ['--campaigns', campaigns, '--members', MEMBER_COUNT, '--seed-number', 1].map(String);
  const child = spawn(process.execPath, [CLI_PATH, 'seed', '--json', ...options], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed, [exitCode]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (exitCode !== 0) throw new Error(`advocacy seed failed with exit code ${exitCode}`);
  return JSON.parse(printed);
}
