import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { getSettingWarnings, readSettings } from '../../bootstrap/read-settings.ts';
import { settings } from '../../bootstrap/settings.ts';
import { type Compose, composeText, interpolate, parseCompose, parseVariables, root } from '../support/compose.ts';
import { suite } from '../support/suite.ts';

const { $schema: _, ...schema } = JSON.parse(
  readFileSync(join(root, 'test/deployment/compose-spec/compose-spec.json'), 'utf8'),
);
const isValidCompose = new Ajv({ strict: false }).compile(schema);
const operating = readFileSync(join(root, 'docs/operating.md'), 'utf8');
const secrets = { MONGODB_PASSWORD: 'secret1', MONGODB_ROOT_PASSWORD: 'secret2', REDIS_PASSWORD: 'secret3' };

/**
 * Settings that `.env` cannot set: the start of their value in `docker-compose.yml`, or `undefined` if this file does
 * not set them.
 */
const fixed: Partial<Record<keyof typeof settings, string | undefined>> = {
  // The image listens on all addresses of the container, and Docker maps the default port to a port of the host.
  HOST: undefined,
  PORT: undefined,
  STORAGE: 'mongodb',
  MONGODB_URI: 'mongodb://',
  RATE_LIMITER: 'redis',
  REDIS_URL: 'redis://',
  SQLITE_FILE: undefined,
  // Not allowed with MongoDB.
  DEMO_WORKSPACE: undefined,
  DEMO_API_KEY: undefined,
  // Its default is the value of HOST.
  LINKS_HOST: undefined,
  LINKS_PORT: '3001',
};

/**
 * Settings whose default differs from that of the service: other containers can scrape the metrics, and there is a load
 * balancer.
 */
const ownDefaults: Partial<Record<keyof typeof settings, string>> = {
  METRICS_PORT: '9464',
  METRICS_HOST: '0.0.0.0',
  TRUST_PROXY: '1',
};

/**
 * Settings without a default. `docker-compose.yml` has only their names, so the container gets them only if `.env` sets
 * them.
 */
const unset = ['LINKS_URL', 'DNS_SERVERS', 'WEBHOOK_NETWORKS'];

/** Parses a size such as `768m`, `128mb` or `2g`. */
function parseMebibytes(text: string): number {
  const [, number, unit] = /^([\d.]+)(m|g)b?$/.exec(text) as RegExpExecArray;
  return Number(number) * (unit === 'g' ? 1024 : 1);
}

/** Returns the environment of the service, if `.env` sets only the secrets. */
function interpolateEnvironment(): Record<string, string> {
  const variables = Object.entries(parseCompose().services.advocacy.environment).filter(([, value]) => value !== null);
  return Object.fromEntries(variables.map(([name, value]) => [name, interpolate(String(value), secrets)]));
}

suite('docker-compose.yml', {
  'follows the published schema, which rejects unknown names and wrong values': () => {
    assert.ok(isValidCompose(parseCompose()), JSON.stringify(isValidCompose.errors));
    const mistakes = [
      ['healthcheck:', 'healtcheck:'],
      ['cap_drop: [ALL]', 'cap_drop: ALL'],
      ['condition: service_healthy', 'condition: service_fine'],
    ] as const;
    for (const [original, mistake] of mistakes) {
      assert.ok(composeText.includes(original), original);
      assert.ok(!isValidCompose(parseCompose(composeText.replace(original, mistake))), mistake);
    }
  },

  'runs each service without capabilities and root, on a read-only file system, and rotates its log': () => {
    for (const [name, service] of Object.entries(parseCompose().services)) {
      if (name !== 'advocacy') assert.match(service.image, /^[a-z]+:\d+\.\d+\.\d+(-[a-z]+)?$/);
      const { driver, options } = service.logging ?? {};
      assert.match(`${driver} ${options?.['max-size']} ${options?.['max-file']}`, /^json-file \d+m \d+$/, name);
      assert.equal(service.read_only, true, name);
      assert.deepEqual(service.cap_drop, ['ALL'], name);
      assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name);
      assert.equal(service.restart, 'unless-stopped', name);
      const user = name === 'advocacy' ? findLast(readDockerfile(), /^USER (.*)$/gm) : service.user;
      assert.match(user as string, /^[1-9]\d*:[1-9]\d*$/, name);
    }
  },

  'publishes the ports of the load balancer to this machine, and no port of another service': () => {
    const { haproxy, ...others } = parseCompose().services;
    assert.deepEqual(
      haproxy.ports?.map((port) => interpolate(port, {})),
      ['127.0.0.1:3000:3000', '127.0.0.1:3001:3001'],
    );
    assert.deepEqual(haproxy.networks, ['front']);
    for (const { ports } of Object.values(others)) assert.equal(ports, undefined);
    for (const { networks } of [others.mongodb, others.redis]) assert.deepEqual(networks, ['databases']);
    assert.equal(parseCompose().networks.databases?.internal, true);
  },

  'has a health check for each service, and waits for the databases': () => {
    const { advocacy, haproxy, mongodb, redis } = parseCompose().services;
    assert.match(readDockerfile(), /^HEALTHCHECK /m);
    assert.ok(haproxy.healthcheck && mongodb.healthcheck && redis.healthcheck);
    const healthy = { condition: 'service_healthy' };
    assert.deepEqual(advocacy.depends_on, { mongodb: healthy, redis: healthy });
    assert.deepEqual(haproxy.depends_on, { advocacy: healthy });
  },

  'contains no secrets, and causes an error that names a missing secret': () => {
    for (const { name, kind, text } of parseVariables(composeText)) {
      if (!/PASSWORD/.test(name)) assert.equal(kind, '-', name);
      else assert.deepEqual({ kind, text }, { kind: '?', text: 'must be set, see docs/operating.md' }, name);
    }
    const entries = Object.entries(secrets);
    for (const [name] of entries) {
      const others = Object.fromEntries(entries.filter(([other]) => other !== name));
      assert.throws(() => interpolate(composeText, others), new RegExp(`${name} must be set`));
    }
    for (const [name] of entries) assert.ok(operating.includes(`${name}=`), name);
  },

  'has the variables and the defaults that docs/operating.md lists, besides settings': () => {
    const rows = [...operating.matchAll(/^\| ((?:`(?:ADVOCACY|MONGODB)_.*?`(?:, )?)+) \| (.*?) \|/gm)];
    const listed = rows.flatMap(([, names = '', values = '']) => {
      const defaults = values.split(', ');
      return names.split(', ').map((name, i) => [name.replaceAll('`', ''), defaults[i]?.replaceAll('`', '')] as const);
    });
    const variables = parseVariables(composeText).filter(({ name, kind }) => kind === '-' && !(name in settings));
    assert.deepEqual(
      new Map([...listed].sort()),
      new Map([...variables.map(({ name, text }) => [name, text] as const)].sort()),
    );
  },

  'stores the data of MongoDB in a volume, and mounts only existing files': () => {
    const { volumes, services } = parseCompose();
    assert.ok(services.mongodb.volumes?.some((volume) => volume.endsWith(':/data/db')));
    for (const volume of Object.values(services).flatMap((service) => service.volumes ?? [])) {
      const [source] = volume.split(':') as [string];
      assert.ok(source.startsWith('./') ? existsSync(join(root, source)) : source in volumes, source);
    }
  },

  'sets some settings to fixed values, and takes all others from .env, with the expected defaults': () => {
    const { environment } = parseCompose().services.advocacy;
    for (const [name, schema] of Object.entries(settings)) {
      if (name in fixed) {
        const value = fixed[name as keyof typeof settings];
        assert.ok(value === undefined ? !(name in environment) : String(environment[name]).startsWith(value), name);
        continue;
      }
      if (unset.includes(name)) {
        assert.equal(environment[name], null, name);
        continue;
      }
      const defaultValue =
        name in ownDefaults ? ownDefaults[name as keyof typeof settings] : String(schema.parse(undefined));
      assert.equal(interpolate(String(environment[name]), {}), defaultValue, name);
      assert.equal(interpolate(String(environment[name]), { [name]: 'changed' }), 'changed', name);
    }
  },

  'limits the memory of each service to at least twice its heap or cache': () => {
    const limits = Object.fromEntries(
      Object.entries(parseCompose().services).map(([name, service]) => [
        name,
        parseMebibytes(interpolate(String(service.mem_limit), {})),
      ]),
    );
    const { advocacy, mongodb, redis } = parseCompose().services;
    const heap = /^--max-old-space-size=(\d+)$/.exec(interpolate(String(advocacy.environment.NODE_OPTIONS), {}))?.[1];
    const cache = interpolate(String(mongodb.environment.CACHE_GB), {});
    // Redis must not evict counts: the rate limits would start again at 0.
    assert.match(String(redis.command), /--maxmemory-policy noeviction/);
    const maxMemory = /--maxmemory (\d+mb)/.exec(String(redis.command))?.[1];
    // The container must also have memory for a run of the command line, beside the service.
    assert.ok(limits.advocacy && limits.advocacy >= 2 * (Number(heap) + 100), `${limits.advocacy}`);
    assert.ok(limits.mongodb && limits.mongodb >= 2 * parseMebibytes(`${cache}g`), `${limits.mongodb}`);
    assert.ok(limits.redis && limits.redis >= 2 * parseMebibytes(maxMemory as string), `${limits.redis}`);
  },

  'sets only known settings without a warning, and connects the service to its databases': () => {
    assert.deepEqual(getSettingWarnings(interpolateEnvironment()), []);
    const { advocacy, mongodb, redis } = parseCompose().services;
    for (const name of Object.keys(advocacy.environment)) {
      assert.ok(name in settings || name === 'NODE_OPTIONS', name);
    }
    const { STORAGE, MONGODB_URI, RATE_LIMITER, REDIS_URL } = readSettings(interpolateEnvironment());
    assert.deepEqual({ STORAGE, RATE_LIMITER }, { STORAGE: 'mongodb', RATE_LIMITER: 'redis' });
    assert.match(MONGODB_URI, /^mongodb:\/\/advocacy:secret1@mongodb:27017\/advocacy\?/);
    assert.match(REDIS_URL, /^redis:\/\/:secret3@redis:6379$/);
    const getVariable = (service: Compose['services']['redis'], name: string) =>
      interpolate(String(service.environment[name]), secrets);
    assert.equal(getVariable(mongodb, 'MONGODB_PASSWORD'), 'secret1');
    assert.equal(getVariable(redis, 'REDISCLI_AUTH'), 'secret3');
  },
});

function readDockerfile(): string {
  return readFileSync(join(root, 'Dockerfile'), 'utf8');
}

function findLast(text: string, pattern: RegExp): string | undefined {
  return [...text.matchAll(pattern)].at(-1)?.[1];
}
