import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { readSettings, settings, settingWarnings } from '../../bootstrap/settings.ts';
import { type Compose, composeText, filledIn, parseCompose, root, variablesOf } from '../support/compose.ts';
import { suite } from '../support/suite.ts';

const { $schema: _, ...schema } = JSON.parse(
  readFileSync(join(root, 'test/deployment/compose-spec/compose-spec.json'), 'utf8'),
);
const followsSchema = new Ajv({ strict: false }).compile(schema);
const secrets = { MONGODB_PASSWORD: 'secret1', MONGODB_ROOT_PASSWORD: 'secret2', REDIS_PASSWORD: 'secret3' };

/** Settings that follow from the file itself, with how they begin, or `undefined` if the file does not give them. */
const fixed: Partial<Record<keyof typeof settings, string | undefined>> = {
  // The image listens at all addresses of the container, and the port is published as another.
  HOST: undefined,
  PORT: undefined,
  STORAGE: 'mongodb',
  MONGODB_URI: 'mongodb://',
  RATE_LIMITER: 'redis',
  REDIS_URL: 'redis://',
  // Rejected with MongoDB.
  DEMO_API_KEY: undefined,
};

/** Settings whose default differs in a container, which other containers scrape. */
const ownDefaults: Partial<Record<keyof typeof settings, string>> = { METRICS_PORT: '9464', METRICS_HOST: '0.0.0.0' };

/** Reads `768m`, `128mb` or `2g`. */
function mebibytes(text: string): number {
  const [, number, unit] = /^([\d.]+)(m|g)b?$/.exec(text) as RegExpExecArray;
  return Number(number) * (unit === 'g' ? 1024 : 1);
}

suite('docker-compose.yml', {
  'follows the published schema, which refuses what it does not know': () => {
    assert.ok(followsSchema(parseCompose()), JSON.stringify(followsSchema.errors));
    const wrong = [
      ['healthcheck:', 'healtcheck:'],
      ['cap_drop: [ALL]', 'cap_drop: ALL'],
      ['condition: service_healthy', 'condition: service_fine'],
    ] as const;
    for (const [is, becomes] of wrong) {
      assert.ok(composeText.includes(is), is);
      assert.ok(!followsSchema(parseCompose(composeText.replace(is, becomes))), becomes);
    }
  },

  'confines each service': () => {
    for (const [name, service] of services()) {
      assert.equal(service.read_only, true, name);
      assert.deepEqual(service.cap_drop, ['ALL'], name);
      assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name);
      assert.equal(service.restart, 'unless-stopped', name);
      const user = name === 'advocacy' ? lastOf(readDockerfile(), /^USER (.*)$/gm) : service.user;
      assert.match(user as string, /^[1-9]\d*:[1-9]\d*$/, name);
    }
  },

  'publishes the port of the service, to this machine, and none of a database': () => {
    const { advocacy, mongodb, redis } = parseCompose().services;
    assert.deepEqual(
      advocacy.ports?.map((port) => filledIn(port, {})),
      ['127.0.0.1:3000:3000'],
    );
    for (const database of [mongodb, redis]) {
      assert.equal(database.ports, undefined);
      assert.deepEqual(database.networks, ['databases']);
    }
    assert.equal(parseCompose().networks.databases?.internal, true);
  },

  'knows when each service is healthy, and waits for the databases': () => {
    const { advocacy, mongodb, redis } = parseCompose().services;
    assert.match(readDockerfile(), /^HEALTHCHECK /m);
    assert.ok(mongodb.healthcheck && redis.healthcheck);
    const healthy = { condition: 'service_healthy' };
    assert.deepEqual(advocacy.depends_on, { mongodb: healthy, redis: healthy });
  },

  'names exact versions of images': () => {
    const { mongodb, redis } = parseCompose().services;
    for (const { image } of [mongodb, redis]) assert.match(image, /^[a-z]+:\d+\.\d+\.\d+(-[a-z]+)?$/);
  },

  'has no secret of its own: without one it stops and says which': () => {
    for (const { name, kind, text } of variablesOf(composeText)) {
      if (!/PASSWORD/.test(name)) assert.equal(kind, '-', name);
      else assert.deepEqual({ kind, text }, { kind: '?', text: 'has to be set, see docs/operating.md' }, name);
    }
    const given = Object.entries(secrets);
    for (const [name] of given) {
      const others = Object.fromEntries(given.filter(([other]) => other !== name));
      assert.throws(() => filledIn(composeText, others), new RegExp(`${name} has to be set`));
    }
    const operating = readFileSync(join(root, 'docs/operating.md'), 'utf8');
    for (const [name] of given) assert.ok(operating.includes(`${name}=`), name);
  },

  'keeps what MongoDB stores in a volume, and mounts only what is here': () => {
    const { volumes, services } = parseCompose();
    assert.ok(services.mongodb.volumes?.some((volume) => volume.endsWith(':/data/db')));
    for (const volume of services.mongodb.volumes ?? []) {
      const [source] = volume.split(':') as [string];
      assert.ok(source.startsWith('./') ? existsSync(join(root, source)) : source in volumes, source);
    }
  },

  'takes every setting from .env, with its usual default': () => {
    const { environment } = parseCompose().services.advocacy;
    for (const [name, schema] of Object.entries(settings)) {
      if (name in fixed) {
        const value = fixed[name as keyof typeof settings];
        assert.ok(value === undefined ? !(name in environment) : String(environment[name]).startsWith(value), name);
        continue;
      }
      const usual = name in ownDefaults ? ownDefaults[name as keyof typeof settings] : String(schema.parse(undefined));
      assert.equal(filledIn(String(environment[name]), {}), usual, name);
      assert.equal(filledIn(String(environment[name]), { [name]: 'changed' }), 'changed', name);
    }
  },

  'starts the service without a warning': () => {
    const environment = Object.entries(parseCompose().services.advocacy.environment);
    const filled = environment.map(([name, value]) => [name, filledIn(String(value), secrets)]);
    assert.deepEqual(settingWarnings(Object.fromEntries(filled)), []);
  },

  'rotates the logs of each service': () => {
    for (const [name, { logging }] of services()) {
      assert.equal(logging?.driver, 'json-file', name);
      assert.match(String(logging?.options?.['max-size']), /^\d+m$/, name);
      assert.match(String(logging?.options?.['max-file']), /^\d+$/, name);
    }
  },

  'limits the memory of each service, to more than its heap or cache': () => {
    const limits = Object.fromEntries(
      services().map(([name, service]) => [name, mebibytes(filledIn(String(service.mem_limit), {}))]),
    );
    const { advocacy, mongodb, redis } = parseCompose().services;
    const heap = /^--max-old-space-size=(\d+)$/.exec(filledIn(String(advocacy.environment.NODE_OPTIONS), {}))?.[1];
    const cache = filledIn(String(mongodb.environment.CACHE_GB), {});
    const counts = /--maxmemory (\d+mb)/.exec(String(redis.command))?.[1];
    // A command of the command line runs beside the service.
    assert.ok(limits.advocacy && limits.advocacy >= 2 * (Number(heap) + 100), `${limits.advocacy}`);
    assert.ok(limits.mongodb && limits.mongodb >= 2 * mebibytes(`${cache}g`), `${limits.mongodb}`);
    assert.ok(limits.redis && limits.redis >= 2 * mebibytes(counts as string), `${limits.redis}`);
  },

  'gives the service settings that it takes, and the databases that are beside it': () => {
    const { advocacy, mongodb, redis } = parseCompose().services;
    const environment = Object.entries(advocacy.environment).map(([name, value]) => {
      assert.ok(name in settings || name === 'NODE_OPTIONS', name);
      return [name, filledIn(String(value), secrets)];
    });
    const { STORAGE, MONGODB_URI, RATE_LIMITER, REDIS_URL } = readSettings(Object.fromEntries(environment));
    assert.deepEqual({ STORAGE, RATE_LIMITER }, { STORAGE: 'mongodb', RATE_LIMITER: 'redis' });
    assert.match(MONGODB_URI, /^mongodb:\/\/advocacy:secret1@mongodb:27017\/advocacy\?/);
    assert.match(REDIS_URL, /^redis:\/\/:secret3@redis:6379$/);
    const filled = (service: Compose['services']['redis'], name: string) =>
      filledIn(String(service.environment[name]), secrets);
    assert.equal(filled(mongodb, 'MONGODB_PASSWORD'), 'secret1');
    assert.equal(filled(redis, 'REDISCLI_AUTH'), 'secret3');
  },
});

function services() {
  return Object.entries(parseCompose().services);
}

function readDockerfile(): string {
  return readFileSync(join(root, 'Dockerfile'), 'utf8');
}

function lastOf(text: string, pattern: RegExp): string | undefined {
  return [...text.matchAll(pattern)].at(-1)?.[1];
}
