import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createApiKeySecret } from '../../core/access/api-key.ts';
import type { Sample } from './sample.ts';
import type { Script } from './server-process.ts';

/** A server of the comparison. */
export interface Contender extends Script {
  readonly name: string;
  /** What it is and does. */
  readonly is: string;
}

const SERVICE = join(import.meta.dirname, '../../bootstrap/main.js');
const PEERS = join(import.meta.dirname, '../../../test/bench/peers');
/** Room for a million campaigns; what Node takes by itself where the machine has 16 GB. */
const HEAP_MIB = 4_096;
/** Half of the cores, for the database, Redis and the client need some. */
const WORKERS = Math.max(2, Math.floor(availableParallelism() / 2));
const UNLIMITED = { RATE_LIMIT_POINTS: '1000000000' };

const descriptions = {
  ours: 'this service, with all that it does: keys, limiter, strict validation, log',
  'ours-redis': 'the same, with its limiter in Redis',
  'ours-workers': `the same as ours-redis, in ${WORKERS} processes`,
  'ours-unbatched': 'ours, with each thing that is asked of MongoDB a command of its own',
  bare: '`node:http` that gives the same bytes, and does nothing for them',
  reference: '`node:http` and the driver, tuned by hand: keys that it was given, no validation, limiter or log',
  'reference-commands':
    'the reference, which reads as this service does: by find commands instead of cursors of the driver',
  fastify: 'Fastify 5, the driver, replies written by schemas',
  express: 'Express 5, the driver and zod, written plainly',
  nestjs: 'NestJS 11 on its Fastify adapter, Mongoose 9 with lean reads, class-validator',
  feathers: 'Feathers 5 on Koa, with its own service for MongoDB',
} as const;

type Name = keyof typeof descriptions;

export const storages = {
  mongodb: [
    ...(['reference', 'reference-commands'] as const),
    ...(['ours', 'ours-redis', 'ours-workers', 'ours-unbatched'] as const),
    ...(['fastify', 'express', 'nestjs', 'feathers'] as const),
  ],
  memory: ['bare', 'ours'],
} as const satisfies Record<string, readonly Name[]>;

export type StorageName = keyof typeof storages;

function contender(name: Name, path: string, environment: Script['environment'], more?: Partial<Contender>): Contender {
  return { name, is: descriptions[name], path, environment, logs: false, ...more };
}

/** This service on a database. */
export function oursOn(uri: string): Contender {
  const environment = { STORAGE: 'mongodb', MONGODB_URI: uri, ...UNLIMITED };
  return contender('ours', SERVICE, environment, { logs: true });
}

/** This service on memory storage, with sample workspaces of so many campaigns; it tells `Seeded`. */
export function oursInMemory(campaigns: readonly number[]): Contender {
  const path = join(import.meta.dirname, 'memory-server.js');
  const options = ['--expose-gc', `--max-old-space-size=${HEAP_MIB}`];
  return contender('ours', path, { SEEDS: JSON.stringify(campaigns), ...UNLIMITED }, { logs: true, options });
}

/** This service on memory storage as anybody starts it. */
export function oursAsStarted(): Contender {
  return contender('ours', SERVICE, { DEMO_API_KEY: createApiKeySecret('0'.repeat(32)) }, { logs: true });
}

/** `file` has what it answers, as JSON: pairs of the path, or the name of what is sent, and the answer. */
export function bareWith(file: string): Contender {
  return contender('bare', join(import.meta.dirname, 'bare-server.js'), { ANSWERS: file });
}

/** All servers of the comparison on a database with some samples in it. */
export function contendersOn(uri: string, samples: readonly Sample[], redisUrl: string | undefined): Contender[] {
  const ours = oursOn(uri);
  const callers = samples.map(({ key, workspaceId, memberId }) => [key, { workspaceId, memberId }]);
  const as = (name: Name, environment: Script['environment']) => ({
    ...ours,
    name,
    is: descriptions[name],
    environment,
  });
  const peer = (name: Name, environment = {}, script: string = name) =>
    contender(name, join(PEERS, `${script}.js`), { MONGODB_URI: uri, ...environment });
  const reference = { CALLERS: JSON.stringify(Object.fromEntries(callers)) };
  const withRedis =
    redisUrl === undefined ? undefined : { ...ours.environment, RATE_LIMITER: 'redis', REDIS_URL: redisUrl };
  const unbatched = contender('ours-unbatched', join(import.meta.dirname, 'unbatched-server.js'), ours.environment, {
    logs: true,
  });
  return [
    peer('reference', reference),
    peer('reference-commands', { ...reference, READS: 'commands' }, 'reference'),
    ours,
    ...(withRedis ? [as('ours-redis', withRedis), as('ours-workers', { ...withRedis, WORKERS: String(WORKERS) })] : []),
    unbatched,
    peer('fastify'),
    peer('express'),
    peer('nestjs'),
    peer('feathers'),
  ];
}

/** Installs what the peers need, once: a package of their own, so that nobody else has to. */
export function installPeers(): void {
  if (existsSync(join(PEERS, 'node_modules'))) return;
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: PEERS, stdio: ['ignore', 2, 2] });
}
