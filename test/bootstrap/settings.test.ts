import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import express from 'express';
import fc from 'fast-check';
import { getSettingWarnings, readSettings, SettingsError, settings } from '../../bootstrap/settings.ts';
import { each, textCases } from '../support/each.ts';
import { suite } from '../support/suite.ts';

type Environment = Readonly<Record<string, string>>;
type Setting = keyof typeof settings;

const names = Object.keys(settings) as Setting[];
const defaults = readSettings({});

/** Returns the lines of the error for an environment, or none if the environment is valid. */
function getErrorLines(environment: Environment): readonly string[] {
  try {
    readSettings(environment);
    return [];
  } catch (error) {
    assert.ok(error instanceof SettingsError, String(error));
    return error.lines;
  }
}

/** Returns the variables that the lines of the error name. */
function findInvalidVariables(environment: Environment): string[] {
  return getErrorLines(environment).map((line) => line.slice(0, line.indexOf(': ')));
}

const KEY = 'Abcdefghij0123456789';
const MAX_INTEGER = String(Number.MAX_SAFE_INTEGER);

/** For each setting, valid texts and the values that they are read as. */
const valid: Readonly<Record<Setting, Readonly<Record<string, unknown>>>> = {
  HOST: { '0.0.0.0': '0.0.0.0', '::1': '::1', 'api.example.com': 'api.example.com' },
  PORT: { 0: 0, 1: 1, 65535: 65535 },
  STORAGE: { memory: 'memory' },
  MONGODB_URI: unchanged(
    'mongodb://localhost',
    'mongodb://user:p%40ss@a.example:27017,b.example:27018/advocacy?replicaSet=rs0',
    'mongodb://user:a,b@[::1]:27017/',
    'mongodb://%2Ftmp%2Fmongodb-27017.sock/advocacy',
    'mongodb+srv://user:pass@cluster.example.net/?retryWrites=true',
  ),
  RATE_LIMITER: { memory: 'memory' },
  REDIS_URL: unchanged('redis://localhost', 'redis://:pass@10.0.0.1:6379/2', 'rediss://user:pass@[::1]:6380'),
  RATE_LIMIT_POINTS: { 1: 1, [MAX_INTEGER]: Number.MAX_SAFE_INTEGER },
  RATE_LIMIT_WINDOW_SECONDS: { 1: 1, 86400: 86400 },
  REFUSED_CREDENTIALS_PER_MINUTE: { 1: 1, [MAX_INTEGER]: Number.MAX_SAFE_INTEGER },
  DEMO_API_KEY: unchanged(KEY, '-._~+/-._~+/-._~+/-._~+/', 'a'.repeat(1000)),
  BODY_LIMIT_BYTES: { 1: 1, 10485760: 10485760 },
  METRICS_PORT: { 0: 0, 9090: 9090, 65535: 65535 },
  METRICS_HOST: { '0.0.0.0': '0.0.0.0', '::': '::' },
  DOCS_URL: {
    '/docs': '/docs',
    '/docs/': '/docs',
    'https://example.com/reference': 'https://example.com/reference',
    'https://example.com/': 'https://example.com',
  },
  TRUST_PROXY: {
    true: true,
    false: false,
    0: 0,
    1: 1,
    12: 12,
    ...unchanged(
      'loopback',
      'loopback, linklocal, uniquelocal',
      '10.0.0.1',
      '10.0.0.0/8',
      '10.0.0.0/255.0.0.0',
      '2001:db8::/32',
      '::ffff:10.0.0.1',
      'loopback,10.0.0.1 , 2001:db8::1',
    ),
  },
  LOG_LEVEL: unchanged('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  WORKERS: { 1: 1 },
};

/** Returns texts that are read as themselves. */
function unchanged(...values: readonly string[]): Record<string, string> {
  return Object.fromEntries(textCases(...values));
}

const notWholeNumbers = ['', ' ', '-1', '+1', '01', '1.0', '1e3', '0x1', '1 ', ' 1', '1\n', '1_000', '²', 'NaN', 'ten'];
const notHosts = ['', ' ', 'a b', 'localhost/', 'http://localhost'];

const invalid: Readonly<Record<Setting, readonly string[]>> = {
  HOST: notHosts,
  PORT: [...notWholeNumbers, '65536'],
  STORAGE: ['', 'Memory', 'memory ', 'mongo', 'postgres', 'constructor'],
  MONGODB_URI: [
    '',
    'localhost:27017',
    'mongodb:',
    'mongodb://',
    'mongodb:///advocacy',
    'mongodb://user:pass@',
    'mongodb://user:pass@/advocacy',
    'mongodb://localhost:port',
    'mongodb://localhost:70000',
    'mongodb://a.example,,b.example',
    'mongodb://local host',
    'mongodb://localhost/advocacy ',
    ' mongodb://localhost',
    'mongodb://me:%ff@localhost',
    'redis://localhost',
    'https://localhost',
  ],
  RATE_LIMITER: ['', 'Redis', 'none'],
  REDIS_URL: [
    '',
    'localhost:6379',
    'redis://',
    'redis:localhost',
    'redis:///0',
    'redis://:pass@',
    'redis://localhost:port',
    'redis://localhost:70000',
    'redis://local host',
    'redis://:%zz@localhost',
    'redis://:50%@localhost',
    'redis://localhost\n',
    'mongodb://localhost',
  ],
  RATE_LIMIT_POINTS: [...notWholeNumbers, '0', '9007199254740992', '9'.repeat(400)],
  RATE_LIMIT_WINDOW_SECONDS: [...notWholeNumbers, '0', '2147484'],
  REFUSED_CREDENTIALS_PER_MINUTE: [...notWholeNumbers, '0', '9007199254740992'],
  DEMO_API_KEY: ['', KEY.slice(1), ...[...' =:,"$é\n'].map((character) => KEY + character)],
  BODY_LIMIT_BYTES: [...notWholeNumbers, '0', '1MiB'],
  METRICS_PORT: [...notWholeNumbers, '65536', 'off'],
  METRICS_HOST: notHosts,
  DOCS_URL: ['', ' ', '/the docs', '/docs\n', 'http://', 'https://example.com:port'],
  TRUST_PROXY: [
    '',
    ' ',
    'TRUE',
    'yes',
    '-1',
    '1.5',
    'LOOPBACK',
    'localhost',
    'example.com',
    '10.0.0',
    '10.0.0.256',
    '10.0.0.0/0',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/255.0.255.0',
    '10.0.0.0/0.0.0.0',
    '::1/129',
    '::/255.0.0.0',
    '::10.0.0.1',
    'fe80::1%br-lan',
    'loopback/8',
    'true, loopback',
    'loopback,',
    'loopback,,10.0.0.1',
    'loopback 10.0.0.1',
  ],
  LOG_LEVEL: ['', 'INFO', 'info ', 'warning', 'verbose', 'off', '30'],
  WORKERS: [...notWholeNumbers, '0', '1000000', 'auto'],
};

suite('the settings', {
  'have these defaults': () => {
    assert.deepEqual(defaults, {
      HOST: '127.0.0.1',
      PORT: 3000,
      STORAGE: 'memory',
      MONGODB_URI: 'mongodb://127.0.0.1:27017/advocacy',
      RATE_LIMITER: 'memory',
      REDIS_URL: 'redis://127.0.0.1:6379',
      RATE_LIMIT_POINTS: 600,
      RATE_LIMIT_WINDOW_SECONDS: 60,
      REFUSED_CREDENTIALS_PER_MINUTE: 60,
      BODY_LIMIT_BYTES: 1_048_576,
      METRICS_HOST: '127.0.0.1',
      DOCS_URL: '/docs',
      TRUST_PROXY: false,
      LOG_LEVEL: 'info',
      WORKERS: 1,
    });
  },

  'accept valid values': () =>
    each(valid, (values, name) =>
      each(values, (value, text) => assert.deepEqual(readSettings({ [name]: text }), { ...defaults, [name]: value })),
    ),

  'reject invalid values, with one line that names the setting': () =>
    each(invalid, (values, name) =>
      each(textCases(...values), (text) => {
        const lines = getErrorLines({ [name]: text });
        assert.equal(lines.length, 1, lines.join('\n'));
        assert.match(lines[0] as string, new RegExp(`^${name}: must be [^\\n]+$`));
      }),
    ),

  'state the problem with an invalid value': () =>
    each(
      {
        PORT: 'must be a whole number from 0 to 65535',
        STORAGE: 'must be one of memory, mongodb',
        REDIS_URL: 'must be a URL that starts with redis:// or rediss://',
        DEMO_API_KEY: 'must be at least 20 characters of A-Za-z0-9-._~+/',
        LOG_LEVEL: 'must be one of trace, debug, info, warn, error, fatal, silent',
      },
      (problem, name) => assert.deepEqual(getErrorLines({ [name]: '?' }), [`${name}: ${problem}`]),
    ),

  'do not complain about the scheme of a URL with another problem': () =>
    each(textCases('mongodb://localhost:70000', 'mongodb://user:a/b@localhost', 'mongodb://'), (url) =>
      assert.match(getErrorLines({ MONGODB_URI: url })[0] as string, /^MONGODB_URI: must be a URL with a host/),
    ),

  'report each invalid value and each misspelled name in a line of its own': () => {
    const environment = { ...Object.fromEntries(names.map((name) => [name, ''])), MONGODB_URL: '', LOGLEVEL: '' };
    assert.deepEqual(findInvalidVariables(environment), [...names, 'MONGODB_URL', 'LOGLEVEL']);
  },

  'report incompatible settings together with invalid values': () => {
    const others = names.filter((name) => !['STORAGE', 'RATE_LIMITER', 'WORKERS'].includes(name));
    return each(textCases(...others), (name) => {
      assert.deepEqual(new Set(findInvalidVariables({ WORKERS: '2', [name]: '' })), new Set([name, 'WORKERS']));
    });
  },

  'report only one line for a setting that has two problems': () => {
    assert.deepEqual(findInvalidVariables({ WORKERS: '1000000' }), ['WORKERS']);
  },

  'accept a whole number only in its shortest form': () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 6 });
    const text = fc.oneof(fc.integer().map(String), digits, fc.double().map(String), fc.string());
    fc.assert(
      fc.property(text, (PORT) => {
        const isPort = /^\d+$/.test(PORT) && String(Number(PORT)) === PORT && Number(PORT) <= 65_535;
        assert.equal(getErrorLines({ PORT }).length, isPort ? 0 : 1);
      }),
    );
  },

  'accept a demo key if and only if it has at least 20 characters, all of them allowed': () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/';
    const key = fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 40 });
    fc.assert(
      fc.property(key, fc.oneof(fc.constant(''), fc.string({ unit: 'binary', maxLength: 1 })), (beginning, end) => {
        const DEMO_API_KEY = beginning + end;
        const isKey = DEMO_API_KEY.length >= 20 && alphabet.includes(end);
        assert.equal(getErrorLines({ DEMO_API_KEY }).length, isKey ? 0 : 1);
      }),
    );
  },

  'accept a list of proxies if and only if Express accepts it': () => {
    const address = fc.oneof(fc.ipV4(), fc.ipV6());
    const suffix = fc.oneof(fc.integer({ min: -1, max: 130 }), fc.ipV4(), fc.constantFrom('255.255.0.0', '128.0.0.0'));
    const name = fc.constantFrom('loopback', 'linklocal', 'uniquelocal', 'Loopback', 'true', '');
    const entry = fc.oneof(
      { weight: 3, arbitrary: address },
      name,
      fc.tuple(address, suffix).map((both) => both.join('/')),
    );
    const list = fc
      .array(fc.tuple(entry, fc.constantFrom('', ' ')), { minLength: 1, maxLength: 3 })
      .map((entries) => entries.map(([text, space]) => space + text + space).join(','))
      .filter((text) => text !== 'true');
    fc.assert(
      fc.property(list, (TRUST_PROXY) =>
        assert.equal(getErrorLines({ TRUST_PROXY }).length, isAcceptedByExpress(TRUST_PROXY) ? 0 : 1),
      ),
      { numRuns: 1000 },
    );
  },
});

function isAcceptedByExpress(trustProxy: string): boolean {
  try {
    express().set('trust proxy', trustProxy);
    return true;
  } catch {
    return false;
  }
}

suite('incompatible settings', {
  'include a demo key with MongoDB': () => {
    const lines = getErrorLines({ STORAGE: 'mongodb', DEMO_API_KEY: KEY });
    assert.ok(
      lines.includes('DEMO_API_KEY: not allowed with STORAGE=mongodb, remove it or set STORAGE=memory'),
      lines.join('\n'),
    );
    assert.equal(findInvalidVariables({ STORAGE: 'mongodb' }).includes('DEMO_API_KEY'), false);
  },

  'include several workers unless both MongoDB and Redis are used': () =>
    each<{ environment: Environment; isValid: boolean }>(
      {
        neither: { environment: {}, isValid: false },
        'MongoDB alone': { environment: { STORAGE: 'mongodb' }, isValid: false },
        'Redis alone': { environment: { RATE_LIMITER: 'redis' }, isValid: false },
        both: { environment: { STORAGE: 'mongodb', RATE_LIMITER: 'redis' }, isValid: true },
      },
      ({ environment, isValid }) => {
        assert.equal(findInvalidVariables({ ...environment, WORKERS: '2' }).includes('WORKERS'), !isValid);
        assert.equal(findInvalidVariables({ ...environment, WORKERS: '1' }).includes('WORKERS'), false);
      },
    ),

  'include the same port for the service and its metrics on overlapping hosts': () =>
    each<{ hosts: readonly [string, string]; isValid: boolean }>(
      {
        'the same host': { hosts: ['127.0.0.1', '127.0.0.1'], isValid: false },
        'a host and all IPv4 addresses': { hosts: ['127.0.0.1', '0.0.0.0'], isValid: false },
        'all IPv4 addresses and a host': { hosts: ['0.0.0.0', '127.0.0.1'], isValid: false },
        'a host and all addresses': { hosts: ['127.0.0.1', '::'], isValid: false },
        'all addresses and all IPv4 addresses': { hosts: ['::', '0.0.0.0'], isValid: false },
        'a host and its name': { hosts: ['127.0.0.1', 'localhost'], isValid: false },
        'two hosts': { hosts: ['127.0.0.1', '127.0.0.2'], isValid: true },
        'all IPv4 addresses and an IPv6 address': { hosts: ['0.0.0.0', '::1'], isValid: true },
      },
      async ({ hosts: [HOST, METRICS_HOST], isValid }) => {
        const environment = { HOST, METRICS_HOST };
        const line = 'METRICS_PORT: must differ from PORT, set another port';
        assert.deepEqual(getErrorLines({ ...environment, PORT: '9464', METRICS_PORT: '9464' }), isValid ? [] : [line]);
        assert.deepEqual(getErrorLines({ ...environment, PORT: '9464', METRICS_PORT: '9465' }), []);
        assert.deepEqual(getErrorLines({ ...environment, PORT: '0', METRICS_PORT: '0' }), []);
        assert.equal((await canBothListen(HOST, METRICS_HOST)) ?? isValid, isValid);
      },
    ),

  'include the default port of the service as the port of its metrics': () => {
    assert.deepEqual(findInvalidVariables({ METRICS_PORT: '3000' }), ['METRICS_PORT']);
    assert.deepEqual(findInvalidVariables({ PORT: '9464' }), []);
  },
});

/** Returns whether servers can listen on both hosts with the same port, or `undefined` if this machine has only one of them. */
async function canBothListen(...hosts: readonly [string, string]): Promise<boolean | undefined> {
  const servers = [createServer(), createServer()] as const;
  const tryToListen = (server: Server, port: number, host: string) =>
    once(server.listen(port, host), 'listening').then(
      () => 'listening',
      ({ code }: NodeJS.ErrnoException) => code,
    );
  try {
    if ((await tryToListen(servers[0], 0, hosts[0])) !== 'listening') return undefined;
    const { port } = servers[0].address() as AddressInfo;
    const outcome = await tryToListen(servers[1], port, hosts[1]);
    if (outcome === 'listening') return true;
    return outcome === 'EADDRINUSE' ? false : undefined;
  } finally {
    for (const server of servers) server.close();
  }
}

/** Misspelled names, with the settings that may be meant. */
const misspellings: Readonly<Record<string, readonly Setting[]>> = {
  // One edit.
  MONGODB_URL: ['MONGODB_URI'],
  REDIS_URI: ['REDIS_URL'],
  LOGLEVEL: ['LOG_LEVEL'],
  LOG_LEVELS: ['LOG_LEVEL'],
  DOCS_URLS: ['DOCS_URL'],
  STORAGES: ['STORAGE'],
  NWORKERS: ['WORKERS'],
  TRUST_PROXYS: ['TRUST_PROXY'],
  METRIC_PORT: ['METRICS_PORT'],
  METRIC_HOST: ['METRICS_HOST'],
  DEMO_APIKEY: ['DEMO_API_KEY'],
  BODY_LIMIT_BYTE: ['BODY_LIMIT_BYTES'],
  RATE_LIMIT_POINT: ['RATE_LIMIT_POINTS'],
  REFUSED_CREDENTIAL_PER_MINUTE: ['REFUSED_CREDENTIALS_PER_MINUTE'],
  // Two edits.
  MONGO_URI: ['MONGODB_URI'],
  LOG_LEVLE: ['LOG_LEVEL'],
  STORAGE_1: ['STORAGE'],
  TRUSTED_PROXY: ['TRUST_PROXY'],
  METRICS_PROT: ['METRICS_PORT'],
  // The beginning of a setting's name, which may also be two edits from the name of another setting.
  DEMO_API: ['DEMO_API_KEY'],
  BODY_LIMIT: ['BODY_LIMIT_BYTES'],
  RATE_LIMIT: ['RATE_LIMITER', 'RATE_LIMIT_POINTS', 'RATE_LIMIT_WINDOW_SECONDS'],
  RATE_LIMIT_WINDOW: ['RATE_LIMIT_WINDOW_SECONDS'],
  REFUSED_CREDENTIALS: ['REFUSED_CREDENTIALS_PER_MINUTE'],
  REFUSED_CREDENTIALS_PER: ['REFUSED_CREDENTIALS_PER_MINUTE'],
};

/** Variables that are not rejected as misspelled: those of other programs, and names that are short or differ too much. */
const unrelated: Readonly<Record<string, string>> = {
  'fewer than eight letters':
    'PORTS HOSTS HOSTT STORAG STORAGR WORKER WORKERZ MONGODB METRICS DOCS_UR LOGLEVL TRUST BODY',
  'three edits or more':
    'MONGO_URL TRUST_PROXIES LOG_LEVEL_V1 REDIS_PORT METRICS_PATH STORAGE_URL METRICS_ADDRESS DOCS_PATH',
  'a beginning that ends inside of a word': 'RATE_LIMIT_WIN REFUSED_CREDENTI BODY_LIM TRUST_PR',
  'a setting and further words':
    'RATE_LIMIT_WINDOW_SECONDS_MAX PORT_RANGE HOST_NAME STORAGE_PATH WORKERS_MAX REDIS_URL_READ',
  'another case': 'mongodb_url log_level rate_limit_window',
  'a shell':
    'HOSTNAME HOSTTYPE MACHTYPE LOGNAME PWD SHLVL TERM TERM_PROGRAM SSH_CONNECTION SSH_AUTH_SOCK DISPLAY EDITOR',
  'a shell, short names': `HOME PATH SHELL USER LANG LC_ALL TERM MAIL EDITOR VISUAL PAGER LESS OLDPWD COLUMNS LINES TZ UID EUID
    PPID IFS OPTARG OPTIND RANDOM SECONDS HISTFILE MANPATH TMPDIR TMP TEMP SUDO_UID SUDO_GID DOMAIN GROUP GROUPS VENDOR
    OSTYPE CPU ARCH PS1 PS2 ENV BASH ZSH XDG_SEAT WINDOW STY TMUX LS_COLORS WSLENV DEBUG`,
  'systemd, short names': 'MAINPID WATCHDOG_USEC CREDENTIALS_DIRECTORY LISTEN_FDS EXIT_CODE SERVICE_RESULT MANAGERPID',
  'tools, short names': `NODE_ENV HTTPS GOPATH GOROOT CC CXX MAKE CFLAGS PERL5LIB RUSTUP PYENV_ROOT NVM_DIR NVM_BIN INIT_CWD npm_command
    NODE COLOR PREFIX HEROKU DYNO PGHOST PGPORT PGUSER DB_HOST DB_PORT SMTP_HOST VERSION COMMIT BRANCH STAGE REGION RELEASE`,
  npm: `npm_lifecycle_event npm_package_version npm_config_user_agent npm_config_loglevel npm_config_registry npm_execpath
    NODE_ENV NODE_OPTIONS NODE_EXTRA_CA_CERTS NODE_VERSION UV_THREADPOOL_SIZE FORCE_COLOR NO_COLOR INIT_CWD`,
  CI: `CI BUILD_NUMBER GITHUB_ACTIONS GITHUB_TOKEN GITHUB_WORKSPACE GITHUB_REF_NAME RUNNER_TEMP RUNNER_TOOL_CACHE
    GITLAB_CI CI_PROJECT_DIR CI_REGISTRY_PASSWORD CI_JOB_TOKEN JENKINS_URL JOB_NAME WORKSPACE CIRCLE_BRANCH TRAVIS`,
  Docker: 'DOCKER_HOST DOCKER_CONFIG DOCKER_BUILDKIT COMPOSE_PROJECT_NAME BUILDKIT_HOST CONTAINER_ID',
  Kubernetes: `KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT KUBERNETES_PORT KUBERNETES_PORT_443_TCP_ADDR POD_NAME POD_IP
    NODE_NAME NAMESPACE REDIS_SERVICE_HOST REDIS_SERVICE_PORT REDIS_PORT REDIS_PORT_6379_TCP REDIS_PORT_6379_TCP_ADDR
    MONGODB_SERVICE_HOST MONGODB_PORT MONGODB_PORT_27017_TCP_PROTO METRICS_SERVICE_HOST METRICS_PORT_9090_TCP
    ADVOCACY_SERVICE_HOST ADVOCACY_PORT STORAGE_SERVICE_PORT WORKERS_SERVICE_HOST DOCS_PORT LOG_PORT`,
  'hosting services and their tools': `DYNO WEB_CONCURRENCY REDIS_TLS_URL REDIS_HOST REDIS_PASSWORD MONGODB_HOST MONGODB_USER
    MONGODB_DATABASE MONGO_INITDB_ROOT_PASSWORD DATABASE_URL AWS_REGION AWS_SECRET_ACCESS_KEY GOOGLE_CLOUD_PROJECT
    HTTP_PROXY HTTPS_PROXY NO_PROXY OTEL_EXPORTER_OTLP_ENDPOINT SENTRY_DSN LISTEN_PID NOTIFY_SOCKET JOURNAL_STREAM
    INVOCATION_ID PM2_HOME FLY_APP_NAME RENDER_SERVICE_ID RAILWAY_ENVIRONMENT VERCEL_URL K_SERVICE LOG_FORMAT`,
};

/** The unrelated variables that cause no warning either. Some of the others resemble a setting, and cause one. */
const { 'fewer than eight letters': _, ...unsuspicious } = unrelated;

suite('a misspelled setting', {
  'is rejected with the name of the setting that is probably meant': () =>
    each(misspellings, (meant, name) => {
      const lines = getErrorLines({ [name]: 'mongodb://user:hunter2@localhost' });
      assert.equal(lines.length, 1);
      assert.ok(
        meant.some((setting) => lines[0] === `${name}: not a setting, did you mean ${setting}?`),
        lines[0],
      );
    }),

  'is rejected even if the setting itself is valid': () => {
    assert.deepEqual(findInvalidVariables({ MONGODB_URI: 'mongodb://localhost', MONGODB_URL: 'mongodb://localhost' }), [
      'MONGODB_URL',
    ]);
  },

  'is any name of at least eight letters that differs from a setting by at most two edits': () =>
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.array(fc.nat(), { minLength: 2, maxLength: 4 }), (name, numbers) => {
        const once = editText(name, numbers.slice(0, 2));
        const twice = editText(once, numbers.slice(2));
        fc.pre(once !== name && once.length >= 8 && twice.length >= 8 && !names.includes(twice as Setting));
        assert.deepEqual(getErrorLines({ [once]: '' }), [`${once}: not a setting, did you mean ${name}?`]);
        assert.deepEqual(findInvalidVariables({ [twice]: '' }), [twice]);
      }),
    ),

  'is neither a variable of another program nor a name that differs more': () =>
    each(unrelated, (list) =>
      each(textCases(...list.split(/\s+/)), (name) => assert.deepEqual(readSettings({ [name]: 'x' }), defaults)),
    ),
});

/** Short misspelled names, with the setting that is meant. */
const shortMisspellings: Readonly<Record<string, Setting>> = {
  STORGE: 'STORAGE',
  STORAG: 'STORAGE',
  STORAEG: 'STORAGE',
  STORRGE: 'STORAGE',
  PROT: 'PORT',
  PORTS: 'PORT',
  OPRT: 'PORT',
  HOSTS: 'HOST',
  HOTS: 'HOST',
  WORKRES: 'WORKERS',
  WORKER: 'WORKERS',
  DOCSURL: 'DOCS_URL',
};

suite('the warnings about an environment', {
  'name a short variable that is probably misspelled, and the setting': () =>
    each(shortMisspellings, (meant, name) => {
      assert.deepEqual(getSettingWarnings({ [name]: 'hunter2' }), [`${name}: not a setting, did you mean ${meant}?`]);
      assert.deepEqual(readSettings({ [name]: 'hunter2' }), defaults);
    }),

  'name any variable of four to seven letters that differs from a setting by one edit or one swap': () =>
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.array(fc.nat(), { minLength: 2, maxLength: 2 }), (name, numbers) => {
        const index = (numbers[0] as number) % Math.max(1, name.length - 1);
        const swapped = name.slice(0, index) + name.charAt(index + 1) + name.charAt(index) + name.slice(index + 2);
        for (const wrong of [editText(name, numbers), swapped]) {
          const isExpected = wrong !== name && wrong.length >= 4 && wrong.length <= 7;
          const warnings = getSettingWarnings({ [wrong]: '' }).filter((line) => line.includes('not a setting'));
          assert.deepEqual(warnings, isExpected ? [`${wrong}: not a setting, did you mean ${name}?`] : []);
        }
      }),
    ),

  'do not name variables of other programs, or short names that differ by two edits': () =>
    each({ ...unsuspicious, others: 'PRT PTOR HSOTS STRGE HOSTING PORTAL EXPORT REPORT' }, (list) =>
      assert.deepEqual(getSettingWarnings(Object.fromEntries(list.split(/\s+/).map((name) => [name, 'x']))), []),
    ),

  'name a setting that has no effect without another': () => {
    const cases: readonly (readonly [Environment, Environment, string])[] = [
      [{ MONGODB_URI: 'mongodb://a' }, { STORAGE: 'mongodb' }, 'MONGODB_URI: has no effect without STORAGE=mongodb'],
      [{ REDIS_URL: 'redis://a' }, { RATE_LIMITER: 'redis' }, 'REDIS_URL: has no effect without RATE_LIMITER=redis'],
      [{ METRICS_HOST: '::1' }, { METRICS_PORT: '0' }, 'METRICS_HOST: has no effect without METRICS_PORT'],
    ];
    for (const [given, other, line] of cases) {
      assert.deepEqual(getSettingWarnings(given), [line]);
      assert.deepEqual(getSettingWarnings({ ...given, ...other }), []);
      assert.deepEqual(getSettingWarnings(other), []);
    }
  },
});

/** Inserts, replaces or deletes a letter of a text. The numbers choose the position and the edit. */
function editText(text: string, [position = 0, edit = 0]: readonly number[]): string {
  const index = position % (text.length + 1);
  return text.slice(0, index) + ['X', 'X', ''][edit % 3] + text.slice(index + (edit % 3 === 0 ? 0 : 1));
}

suite('the lines of a settings error', {
  'contain no values, and name each variable at most once': () => {
    const secret = 'hunter2';
    const textWithSecret = fc.tuple(fc.string(), fc.string()).map(([before, after]) => before + secret + after);
    const uri = fc.constantFrom('mongodb', 'redis', 'https', '').map((scheme) => `${scheme}://user:${secret}@a b/`);
    const name = fc.constantFrom(...names, ...Object.keys(misspellings));
    fc.assert(
      fc.property(fc.dictionary(name, fc.oneof(textWithSecret, uri)), (environment) => {
        const lines = getErrorLines(environment);
        for (const line of lines) assert.match(line, /^[A-Z0-9_]+: [^\n]+$/);
        assert.equal(lines.join('\n').includes(secret), false);
        const variables = findInvalidVariables(environment);
        assert.deepEqual([...new Set(variables)], variables);
        for (const variable of variables) assert.ok(variable in environment, variable);
      }),
    );
  },
});
