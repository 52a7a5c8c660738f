import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Sample } from './sample.ts';
import type { ServerScript } from './server-process.ts';

/** A server of the comparison. */
export interface Contender extends ServerScript {
  readonly name: string;
  /** A noun phrase for docs/benchmark.md. */
  readonly description: string;
}

const SERVICE = join(import.meta.dirname, '../../bootstrap/main.js');
const PEERS = join(import.meta.dirname, '../../../test/bench/peers');
/** Half of the cores. The database, Redis and the client need the other half. */
const WORKERS = Math.max(2, Math.floor(availableParallelism() / 2));
const UNLIMITED = { RATE_LIMIT_POINTS: '1000000000' };

const descriptions = {
  ours: 'this service with all its features: keys, rate limits, strict validation, log',
  'ours-redis': 'ours, with rate limits in Redis',
  'ours-workers': `ours-redis, in ${WORKERS} processes`,
  'ours-unbatched': 'ours without batches: each read and each insert is a command to MongoDB',
  reference: '`node:http` and the driver, tuned by hand: known keys, no validation, no rate limits, no log',
  'reference-commands': 'reference, but reading as ours does: with find commands instead of driver cursors',
  fastify: 'Fastify 5 and the driver, responses serialized by schemas',
  express: 'Express 5, the driver and zod, in plain code',
  nestjs: 'NestJS 11 on its Fastify adapter, Mongoose 9 with lean reads, class-validator',
  feathers: 'Feathers 5 on Koa, with its MongoDB service',
} as const;

type Name = keyof typeof descriptions;

/** The names of the servers that are compared on each storage. */
export const serverNames = {
  mongodb: [
    ...(['reference', 'reference-commands'] as const),
    ...(['ours', 'ours-redis', 'ours-workers', 'ours-unbatched'] as const),
    ...(['fastify', 'express', 'nestjs', 'feathers'] as const),
  ],
} as const satisfies Record<string, readonly Name[]>;

export type StorageName = keyof typeof serverNames;

function createContender(
  name: Name,
  path: string,
  environment: ServerScript['environment'],
  more?: Partial<Contender>,
): Contender {
  return { name, description: descriptions[name], path, environment, hasLog: false, ...more };
}

/** Returns this service on a MongoDB database. */
export function oursOnMongodb(uri: string): Contender {
  const environment = { STORAGE: 'mongodb', MONGODB_URI: uri, ...UNLIMITED };
  return createContender('ours', SERVICE, environment, { hasLog: true });
}

/** Returns all servers of the comparison on a database that has the samples. */
export function createContenders(uri: string, samples: readonly Sample[], redisUrl: string | undefined): Contender[] {
  const ours = oursOnMongodb(uri);
  const callers = samples.map(({ key, workspaceId, memberId }) => [key, { workspaceId, memberId }]);
  const variantOf = (name: Name, environment: ServerScript['environment']) => ({
    ...ours,
    name,
    description: descriptions[name],
    environment,
  });
  const peer = (name: Name, environment = {}, script: string = name) =>
    createContender(name, join(PEERS, `${script}.js`), { MONGODB_URI: uri, ...environment });
  const withCallers = { CALLERS: JSON.stringify(Object.fromEntries(callers)) };
  const withRedis =
    redisUrl === undefined ? undefined : { ...ours.environment, RATE_LIMITER: 'redis', REDIS_URL: redisUrl };
  const unbatched = createContender(
    'ours-unbatched',
    join(import.meta.dirname, 'unbatched-server.js'),
    ours.environment,
    {
      hasLog: true,
    },
  );
  return [
    peer('reference', withCallers),
    peer('reference-commands', { ...withCallers, READS: 'commands' }, 'reference'),
    ours,
    ...(withRedis
      ? [variantOf('ours-redis', withRedis), variantOf('ours-workers', { ...withRedis, WORKERS: String(WORKERS) })]
      : []),
    unbatched,
    peer('fastify'),
    peer('express'),
    peer('nestjs'),
    peer('feathers'),
  ];
}

/** Installs the packages of the other servers if they are missing. `npm ci` of this project does not install them. */
export function installPeers(): void {
  if (existsSync(join(PEERS, 'node_modules'))) return;
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: PEERS, stdio: ['ignore', 2, 2] });
}
