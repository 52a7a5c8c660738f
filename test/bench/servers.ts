import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { StorageName } from './database.ts';
import type { Sample } from './sample.ts';
import type { Contender } from './server-process.ts';

const SERVICE_PATH = join(import.meta.dirname, '../../bootstrap/main.js');
const PEERS_PATH = join(import.meta.dirname, '../../../test/bench/peers');
const UNLIMITED = { RATE_LIMIT_POINTS: '1000000000' };

type Environment = Readonly<Record<string, string>>;

const descriptions = {
  reference:
    '`node:http` and the driver, tuned by hand: a fixed list of API keys, no validation, no rate limits, no log',
  'reference-sqlite':
    '`node:http` and the SQLite library, tuned by hand: a fixed list of API keys, no validation, no rate limits, no log, a commit per create',
  'fixed-redirect': '`node:http`, which responds to every request with the same 302',
  ours: 'this service with all its features: keys, rate limits, strict validation, log',
  'ours-redis': 'ours, with rate limits in Redis',
  fastify: 'Fastify 5 and the driver, responses serialized by schemas',
  express: 'Express 5, the driver and zod, in plain code',
} as const;

type Name = keyof typeof descriptions;

/** The names of the servers for each storage, in the order in which they are compared. */
export const serverNames: Readonly<Record<StorageName, readonly Name[]>> = {
  sqlite: ['reference-sqlite', 'ours'],
  mongodb: ['reference', 'ours', 'ours-redis', 'fastify', 'express'],
};

/** Returns this service on the database that `settings` name. */
export function ours(settings: Environment, name: Name = 'ours'): Contender {
  const environment = { ...UNLIMITED, ...settings };
  return { name, description: descriptions[name], path: SERVICE_PATH, environment, hasLog: true };
}

/** Returns another server, whose script has the same name. */
export function peer(name: Name, environment: Environment = {}): Contender {
  return { name, description: descriptions[name], path: join(PEERS_PATH, `${name}.js`), environment, hasLog: false };
}

/** Returns all servers of the comparison. They use the database that `settings` select, which contains the samples. */
export function createContenders(settings: Environment, samples: readonly Sample[], redisUrl = ''): Contender[] {
  const callers = samples.map(({ key, workspaceId, memberId }) => [key, { workspaceId, memberId }]);
  const withCallers = { ...settings, CALLERS: JSON.stringify(Object.fromEntries(callers)) };
  return [
    peer('reference', withCallers),
    peer('reference-sqlite', withCallers),
    ours(settings),
    ours({ ...settings, RATE_LIMITER: 'redis', REDIS_URL: redisUrl }, 'ours-redis'),
    peer('fastify', settings),
    peer('express', settings),
  ];
}

/** Installs the packages of the other servers if they are missing. `npm ci` of this project does not install them. */
export function installPeers(): void {
  if (existsSync(join(PEERS_PATH, 'node_modules'))) return;
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: PEERS_PATH, stdio: ['ignore', 2, 2] });
}
