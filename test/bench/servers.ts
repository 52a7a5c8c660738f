import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { StorageName } from './database.ts';
import type { Sample } from './sample.ts';
import type { ServerScript } from './server-process.ts';

/** A server of the comparison. */
export interface Contender extends ServerScript {
  readonly name: string;
  /** A noun phrase for docs/benchmark.md. */
  readonly description: string;
}

const SERVICE_PATH = join(import.meta.dirname, '../../bootstrap/main.js');
const PEERS_PATH = join(import.meta.dirname, '../../../test/bench/peers');
/** The number of processes of `ours-workers`: half of the cores, but at least two. The database, Redis and the client need the others. */
const WORKERS = Math.max(2, Math.floor(availableParallelism() / 2));
const UNLIMITED = { RATE_LIMIT_POINTS: '1000000000' };

type Environment = Readonly<Record<string, string>>;

const descriptions = {
  reference:
    '`node:http` and the driver, tuned by hand: a fixed list of API keys, no validation, no rate limits, no log',
  'reference-commands': 'reference, but reading as ours does: with find commands instead of driver cursors',
  'reference-sqlite':
    '`node:http` and the SQLite library, tuned by hand: a fixed list of API keys, no validation, no rate limits, no log, a commit per create',
  ours: 'this service with all its features: keys, rate limits, strict validation, log',
  'ours-redis': 'ours, with rate limits in Redis',
  'ours-workers': `ours-redis, in ${WORKERS} processes`,
  'ours-unbatched': 'ours without batches: each read and each insert is a command to MongoDB',
  fastify: 'Fastify 5 and the driver, responses serialized by schemas',
  express: 'Express 5, the driver and zod, in plain code',
  nestjs: 'NestJS 11 on its Fastify adapter, Mongoose 9 with lean reads, class-validator',
  feathers: 'Feathers 5 on Koa, with its MongoDB service',
} as const;

type Name = keyof typeof descriptions;

/** The names of the servers for each storage, in the order in which they are compared. */
export const serverNames: Readonly<Record<StorageName, readonly Name[]>> = {
  sqlite: ['reference-sqlite', 'ours'],
  mongodb: (Object.keys(descriptions) as Name[]).filter((name) => name !== 'reference-sqlite'),
};

/** Returns this service on the database that `settings` name. */
export function ours(settings: Environment, name: Name = 'ours', path = SERVICE_PATH): Contender {
  return { name, description: descriptions[name], path, environment: { ...UNLIMITED, ...settings }, hasLog: true };
}

/**
 * Returns all servers of the comparison. They use the database that `settings` select, which contains the samples. Some of the servers need
 * Redis.
 */
export function createContenders(
  settings: Environment,
  samples: readonly Sample[],
  redisUrl: string | undefined,
): Contender[] {
  const callers = samples.map(({ key, workspaceId, memberId }) => [key, { workspaceId, memberId }]);
  const withCallers = { CALLERS: JSON.stringify(Object.fromEntries(callers)) };
  const withRedis = { ...settings, RATE_LIMITER: 'redis', REDIS_URL: redisUrl ?? '' };
  const peer = (name: Name, environment = {}, script: string = name): Contender => ({
    name,
    description: descriptions[name],
    path: join(PEERS_PATH, `${script}.js`),
    environment: { ...settings, ...environment },
    hasLog: false,
  });
  return [
    peer('reference', withCallers),
    peer('reference-commands', { ...withCallers, READS: 'commands' }, 'reference'),
    peer('reference-sqlite', withCallers),
    ours(settings),
    ours(withRedis, 'ours-redis'),
    ours({ ...withRedis, WORKERS: String(WORKERS) }, 'ours-workers'),
    ours(settings, 'ours-unbatched', join(import.meta.dirname, 'unbatched-server.js')),
    ...(['fastify', 'express', 'nestjs', 'feathers'] as const).map((name) => peer(name)),
  ];
}

/** Installs the packages of the other servers if they are missing. `npm ci` of this project does not install them. */
export function installPeers(): void {
  if (existsSync(join(PEERS_PATH, 'node_modules'))) return;
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: PEERS_PATH, stdio: ['ignore', 2, 2] });
}
