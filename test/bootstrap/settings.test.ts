import assert from 'node:assert/strict';
import express from 'express';
import fc from 'fast-check';
import { getSettingWarnings, readSettings } from '../../bootstrap/read-settings.ts';
import { settings } from '../../bootstrap/settings.ts';
import { StartupError } from '../../bootstrap/startup-error.ts';
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
    assert.ok(error instanceof StartupError, String(error));
    return error.lines;
  }
}

/** Returns the variables that are named in the lines of the error. */
function findInvalidVariables(environment: Environment): string[] {
  return getErrorLines(environment).map((line) => line.slice(0, line.indexOf(': ')));
}

const KEY = 'Abcdefghij0123456789';
const MAX_INTEGER = String(Number.MAX_SAFE_INTEGER);

/** Returns the words of a text. */
const split = (text: string) => text.trim().split(/\s+/);

/** Returns texts that are read as themselves. */
const unchanged = (...values: readonly string[]) => Object.fromEntries(textCases(...values));

/** For each setting, valid texts and the values that they are read as. */
const valid: Readonly<Record<Setting, Readonly<Record<string, unknown>>>> = {
  HOST: unchanged('0.0.0.0', '::1', 'api.example.com'),
  PORT: { 0: 0, 1: 1, 65535: 65535 },
  STORAGE: unchanged('memory', 'sqlite'),
  SQLITE_FILE: unchanged('data/advocacy.db', '/var/lib/my data/a', 'advocacy-2026-01-31T09:30:00.db'),
  DEMO_WORKSPACE: { true: true, false: false },
  MCP: { true: true, false: false },
  MONGODB_URI: unchanged(
    ...split(`mongodb://localhost mongodb://user:a,b@[::1]:27017/ mongodb://%2Ftmp%2Fmongodb-27017.sock/advocacy
      mongodb://user:p%40ss@a.example:27017,b.example:27018/advocacy?replicaSet=rs0
      mongodb+srv://user:pass@cluster.example.net/?retryWrites=true`),
  ),
  RATE_LIMITER: unchanged('memory'),
  REDIS_URL: unchanged(...split('redis://localhost redis://:pass@10.0.0.1:6379/2 rediss://user:pass@[::1]:6380')),
  RATE_LIMIT_POINTS: { 1: 1, [MAX_INTEGER]: Number.MAX_SAFE_INTEGER },
  RATE_LIMIT_WINDOW_SECONDS: { 1: 1, 86400: 86400 },
  REJECTED_CREDENTIALS_PER_MINUTE: { 1: 1, [MAX_INTEGER]: Number.MAX_SAFE_INTEGER },
  DEMO_API_KEY: unchanged(KEY, '-._~+/-._~+/-._~+/-._~+/', `AZaz09${'a'.repeat(1000)}`),
  BODY_LIMIT_BYTES: { 1: 1, 10485760: 10485760 },
  METRICS_PORT: { 0: 0, 9090: 9090, 65535: 65535 },
  METRICS_HOST: unchanged('0.0.0.0', '::'),
  LINKS_PORT: { 0: 0, 8080: 8080, 65535: 65535 },
  LINKS_HOST: unchanged('0.0.0.0', '::'),
  LINKS_URL: {
    ...unchanged('https://go.example.com', 'http://localhost:8080', 'http://[::1]:8080'),
    'https://Go.Example.com/': 'https://go.example.com',
  },
  DNS_SERVERS: {
    '192.0.2.1': ['192.0.2.1'],
    '192.0.2.1:53, [2001:db8::1]:65535 ,2001:db8::1,[::1]': [
      ...['192.0.2.1:53', '[2001:db8::1]:65535', '2001:db8::1', '[::1]'],
    ],
  },
  WEBHOOK_NETWORKS: {
    '10.0.0.0/8': ['10.0.0.0/8'],
    '10.1.2.3 , 192.168.0.0/0,::1, fd00::/128': ['10.1.2.3', '192.168.0.0/0', '::1', 'fd00::/128'],
  },
  DOCS_URL: {
    ...unchanged('/docs', 'https://example.com/reference'),
    '/docs/': '/docs',
    '/': '',
    'https://example.com/': 'https://example.com',
  },
  TRUST_PROXY: {
    ...{ true: true, false: false, 0: 0, 1: 1, 12: 12 },
    ...unchanged(...split('loopback 10.0.0.1 10.0.0.0/8 10.0.0.0/255.0.0.0 2001:db8::/32 ::ffff:10.0.0.1')),
    ...unchanged('loopback, linklocal, uniquelocal', 'loopback,10.0.0.1 , 2001:db8::1'),
  },
  LOG_LEVEL: unchanged('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
};

const notWholeNumbers = ['', ' ', '-1', '+1', '01', '1.0', '1e3', '0x1', '1 ', ' 1', '1\n', '1_000', '²', 'NaN', 'ten'];
const notHosts = ['', ' ', 'a b', 'localhost/', 'http://localhost', 'localhost\n', 'a'.repeat(254)];

const invalid: Readonly<Record<Setting, readonly string[]>> = {
  HOST: notHosts,
  PORT: [...notWholeNumbers, '65536'],
  SQLITE_FILE: [
    ...['', ' ', 'a.db\n', ' a.db', 'data/', '~/a.db', 'sqlite:a.db', 'sqlite://a.db', 'file:a.db', 'FILE:///a.db'],
    ...['mongodb://127.0.0.1/a', 'mongodb+srv:a', 'sqlite3:a.db', 's3://bucket/a.db'],
  ],
  DEMO_WORKSPACE: ['', 'yes', 'TRUE', '1'],
  MCP: ['', 'yes', 'FALSE', '0'],
  STORAGE: ['', 'Memory', 'memory ', 'mongo', 'postgres', 'constructor'],
  MONGODB_URI: [
    ...['', 'mongodb://local host', 'mongodb://localhost/advocacy ', ' mongodb://localhost'],
    ...split(`localhost:27017 mongodb: mongodb:// mongodb:///advocacy mongodb://user:pass@ mongodb://user:pass@/advocacy
      mongodb://localhost:port mongodb://localhost:70000 mongodb://a.example,,b.example mongodb://me:%ff@localhost
      redis://localhost https://localhost`),
  ],
  RATE_LIMITER: ['', 'Redis', 'none'],
  REDIS_URL: [
    ...['', 'redis://local host', 'redis://localhost\n'],
    ...split(`localhost:6379 redis:// redis:localhost redis:///0 redis://:pass@ redis://localhost:port redis://localhost:70000
      redis://:%zz@localhost redis://:50%@localhost redis://localhost/advocacy redis://localhost/0/1 mongodb://localhost`),
  ],
  RATE_LIMIT_POINTS: [...notWholeNumbers, '0', '9007199254740992', '9'.repeat(400)],
  RATE_LIMIT_WINDOW_SECONDS: [...notWholeNumbers, '0', '2147484'],
  REJECTED_CREDENTIALS_PER_MINUTE: [...notWholeNumbers, '0', '9007199254740992'],
  DEMO_API_KEY: [
    ...['', KEY.slice(1), 'a'.repeat(4_097)],
    ...[...' !"#$%&\'()*,:;<=>?@[\\]^`{|}é\n\0'].map((character) => KEY + character),
  ],
  BODY_LIMIT_BYTES: [...notWholeNumbers, '0', '1MiB'],
  METRICS_PORT: [...notWholeNumbers, '65536', 'off'],
  METRICS_HOST: notHosts,
  LINKS_PORT: [...notWholeNumbers, '65536', 'off'],
  LINKS_HOST: notHosts,
  LINKS_URL: [
    ...['', 'https://go .example.com', `https://${'a'.repeat(2_048)}.example`],
    ...split(`go.example.com ftp://go.example.com https:// https://go.example.com/l https://go.example.com//
      https://go.example.com?a=1 https://go.example.com#a https://user@go.example.com https://go.example.com:99999
      https://go.example.com. https://*.example.com https://go.example.com;`),
  ],
  DNS_SERVERS: [
    ...['', ' ', '192.0.2.1,', ',192.0.2.1', '192.0.2.1 192.0.2.2', '192.0.2.1;192.0.2.2', '192.0.2.1 :53'],
    ...split(`localhost dns.example 192.0.2 192.0.2.256 192.0.2.1:0 192.0.2.1:65536 192.0.2.1:x 192.0.2.1: 192.0.2.1/24
      [192.0.2.1] [192.0.2.1]:53 [::1]: [::1]:0 [::1]:65536 [::1]53 ::1]:53 ::g fe80::1%lo udp://192.0.2.1`),
  ],
  WEBHOOK_NETWORKS: [
    ...['', ' ', '10.0.0.0/8,', ',10.0.0.1', '10.0.0.1 10.0.0.2', '10.0.0.0 /8', '10.0.0.0/ 8'],
    ...split(`localhost 10 10.0.0 10.0.0.256 010.0.0.1 0x7f.0.0.1 10.0.0.0/33 10.0.0.0/ 10.0.0.0/-1 10.0.0.0/8/8 10.0.0.0/x
      10.0.0.0/255.0.0.0 ::1/129 [::1] [::1]/128 ::g fe80::1%lo fe80::1%lo/64 10.0.0.1:80 loopback
      10.0.0.0/08 ::ffff:127.0.0.1 ::FFFF:7f00:1/104`),
  ],
  DOCS_URL: [
    ...['', ' ', '/the docs', '/docs\n', `/${'a'.repeat(2_048)}`],
    ...split(`http:// https://example.com:port docs //example.com javascript:alert(1) ftp://example.com /docs?a=1 /docs#a
      https://example.com/docs#a`),
  ],
  TRUST_PROXY: [
    ...['', ' ', 'true, loopback', 'loopback 10.0.0.1'],
    ...split(`TRUE yes -1 1.5 1000 LOOPBACK localhost example.com 10.0.0 10.0.0.256 010.0.0.1 0x7f000001 10.0.0.0/0
      10.0.0.0/33 10.0.0.0/ 10.0.0.0/8/8 10.0.0.0/255.0.255.0 10.0.0.0/0.0.0.0 ::1/129 ::/255.0.0.0 ::10.0.0.1
      fe80::1%br-lan loopback/8 loopback, loopback,,10.0.0.1`),
  ],
  LOG_LEVEL: ['', 'INFO', 'info ', 'warning', 'verbose', 'off', '30'],
};

suite('the settings', {
  'have the expected defaults': () => {
    assert.deepEqual(defaults, {
      HOST: '127.0.0.1',
      PORT: 3000,
      STORAGE: 'sqlite',
      SQLITE_FILE: 'data/advocacy.db',
      MONGODB_URI: 'mongodb://127.0.0.1:27017/advocacy',
      RATE_LIMITER: 'memory',
      REDIS_URL: 'redis://127.0.0.1:6379',
      RATE_LIMIT_POINTS: 600,
      RATE_LIMIT_WINDOW_SECONDS: 60,
      REJECTED_CREDENTIALS_PER_MINUTE: 60,
      DEMO_WORKSPACE: true,
      BODY_LIMIT_BYTES: 1_048_576,
      METRICS_HOST: '127.0.0.1',
      DOCS_URL: '/docs',
      MCP: true,
      TRUST_PROXY: false,
      LOG_LEVEL: 'info',
    });
  },

  'accept valid values': () =>
    each(valid, (values, name) =>
      each(values, (value, text) => {
        const needsLinksPort = name === 'LINKS_URL';
        const environment = { ...(needsLinksPort && { LINKS_PORT: '8080' }), [name]: text };
        const required = needsLinksPort ? { LINKS_PORT: 8080 } : {};
        assert.deepEqual(readSettings(environment), { ...defaults, ...required, [name]: value });
      }),
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
        STORAGE: 'must be one of memory, sqlite, mongodb',
        REDIS_URL: 'must be a URL that starts with redis:// or rediss://',
        DEMO_API_KEY: 'must be at least 20 characters of A-Za-z0-9-._~+/',
        LOG_LEVEL: 'must be one of trace, debug, info, warn, error, fatal, silent',
      },
      (problem, name) => assert.deepEqual(getErrorLines({ [name]: '?' }), [`${name}: ${problem}`]),
    ),

  'do not report the scheme of a URL if its scheme is valid': () =>
    each(textCases('mongodb://localhost:70000', 'mongodb://user:a/b@localhost', 'mongodb://'), (url) =>
      assert.match(getErrorLines({ MONGODB_URI: url })[0] as string, /^MONGODB_URI: must be a URL with a host/),
    ),

  'report each invalid value and each misspelled name in a line of its own': () => {
    const environment = { ...Object.fromEntries(names.map((name) => [name, ''])), MONGODB_URL: '', LOGLEVEL: '' };
    assert.deepEqual(findInvalidVariables(environment), [...names, 'MONGODB_URL', 'LOGLEVEL']);
  },

  'report incompatible settings together with invalid values, and at most one line for a setting': () => {
    const environment = { LINKS_URL: 'https://go.example.com', LINKS_PORT: '3000', METRICS_PORT: '3000', PORT: '' };
    assert.deepEqual(findInvalidVariables({ ...environment, LOG_LEVEL: '' }), ['PORT', 'LINKS_PORT', 'LOG_LEVEL']);
    assert.deepEqual(findInvalidVariables({ LINKS_URL: '' }), ['LINKS_URL']);
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

const notWithMongodb = 'not allowed with STORAGE=mongodb, remove it or set STORAGE=memory or sqlite';

/** Environments, and the lines of their errors. */
const combinations: readonly (readonly [Environment, ...string[]])[] = [
  [{ STORAGE: 'mongodb', DEMO_API_KEY: KEY }, `DEMO_API_KEY: ${notWithMongodb}`],
  [{ STORAGE: 'mongodb', DEMO_WORKSPACE: 'true' }, `DEMO_WORKSPACE: ${notWithMongodb}`],
  [{ STORAGE: 'mongodb', DEMO_WORKSPACE: 'false' }, `DEMO_WORKSPACE: ${notWithMongodb}`],
  [{ STORAGE: 'memory', DEMO_WORKSPACE: 'true', DEMO_API_KEY: KEY }],
  [
    { DEMO_WORKSPACE: 'false', DEMO_API_KEY: KEY },
    'DEMO_API_KEY: not allowed with DEMO_WORKSPACE=false, remove it or set DEMO_WORKSPACE=true',
  ],
  [{ METRICS_PORT: '3000' }, 'METRICS_PORT: must differ from PORT, set another port'],
  [{ PORT: '9464', METRICS_PORT: '9464' }, 'METRICS_PORT: must differ from PORT, set another port'],
  [{ LINKS_PORT: '9464', METRICS_PORT: '9464' }, 'LINKS_PORT: must differ from METRICS_PORT, set another port'],
  [{ PORT: '9464', METRICS_PORT: '9465' }],
  [{ PORT: '0', METRICS_PORT: '0', LINKS_PORT: '0' }],
  [{ METRICS_PORT: '3000', METRICS_HOST: '127.0.0.2' }],
  [{ LINKS_PORT: '9464', METRICS_PORT: '9464', HOST: '127.0.0.2' }],
  [{ LINKS_URL: 'https://go.example.com' }, 'LINKS_URL: requires LINKS_PORT, set it or remove LINKS_URL'],
  [{ LINKS_URL: 'https://go.example.com', LINKS_PORT: '0' }],
];

suite('settings that are not allowed together', {
  'are reported in a line that says what to change': () => {
    for (const [environment, ...lines] of combinations) assert.deepEqual(getErrorLines(environment), lines);
  },
});

suite('a setting', {
  'causes a warning if it has no effect without another setting': () => {
    const cases: readonly (readonly [Environment, Environment, string])[] = [
      [
        { SQLITE_FILE: 'a.db', STORAGE: 'memory' },
        { STORAGE: 'sqlite' },
        'SQLITE_FILE: has no effect without STORAGE=sqlite',
      ],
      [{ MONGODB_URI: 'mongodb://a' }, { STORAGE: 'mongodb' }, 'MONGODB_URI: has no effect without STORAGE=mongodb'],
      [{ REDIS_URL: 'redis://a' }, { RATE_LIMITER: 'redis' }, 'REDIS_URL: has no effect without RATE_LIMITER=redis'],
      [{ METRICS_HOST: '::1' }, { METRICS_PORT: '0' }, 'METRICS_HOST: has no effect without METRICS_PORT'],
      [{ LINKS_HOST: '::1' }, { LINKS_PORT: '0' }, 'LINKS_HOST: has no effect without LINKS_PORT'],
    ];
    for (const [given, other, line] of cases) {
      assert.deepEqual(getSettingWarnings(given), [line]);
      assert.deepEqual(getSettingWarnings({ ...given, ...other }), []);
      assert.deepEqual(getSettingWarnings(other), []);
    }
  },
});

suite('the lines of a settings error', {
  'contain no values, and name each variable at most once': () => {
    const secret = 'hunter2';
    const textWithSecret = fc.tuple(fc.string(), fc.string()).map(([before, after]) => before + secret + after);
    const uri = fc.constantFrom('mongodb', 'redis', 'https', '').map((scheme) => `${scheme}://user:${secret}@a b/`);
    const name = fc.constantFrom(...names, 'MONGODB_URL', 'REDIS_URI', 'LOGLEVEL', 'RATE_LIMIT');
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

/** Misspelled names, with the settings that may be meant: one edit, two edits, or the beginning of a name. */
const misspellings: Readonly<Record<string, readonly Setting[]>> = {
  MONGODB_URL: ['MONGODB_URI'],
  REDIS_URI: ['REDIS_URL'],
  LOGLEVEL: ['LOG_LEVEL'],
  MONGO_URI: ['MONGODB_URI'],
  LOG_LEVLE: ['LOG_LEVEL'],
  STORAGE_1: ['STORAGE'],
  // A beginning may also be two edits from the name of another setting.
  RATE_LIMIT: ['RATE_LIMITER', 'RATE_LIMIT_POINTS', 'RATE_LIMIT_WINDOW_SECONDS'],
  RATE_LIMIT_WINDOW: ['RATE_LIMIT_WINDOW_SECONDS'],
  REJECTED_CREDENTIALS: ['REJECTED_CREDENTIALS_PER_MINUTE'],
};

/** Variables that are not rejected: those of other programs, and names that are short or differ too much. */
const unrelated: Readonly<Record<string, string>> = {
  'fewer than eight letters': 'PORTS HOSTS PROT STORGE STORAG MONGODB METRICS DOCS_UR DOCSURL LOGLEVL TRUST BODY',
  'three edits or more, and no beginning of a setting':
    'MONGO_URL TRUST_PROXIES LOG_LEVEL_V1 REDIS_PORT METRICS_PATH STORAGE_URL METRICS_ADDRESS DOCS_PATH',
  'a beginning that ends inside of a word': 'RATE_LIMIT_WIN REJECTED_CREDENTI BODY_LIM TRUST_PR',
  'a setting and further words': 'RATE_LIMIT_WINDOW_SECONDS_MAX PORT_RANGE HOST_NAME STORAGE_PATH REDIS_URL_READ',
  'another case': 'mongodb_url log_level rate_limit_window',
  'shells and systemd': `HOSTNAME HOSTTYPE LOGNAME TERM_PROGRAM SSH_CONNECTION LS_COLORS XDG_SEAT MAINPID WATCHDOG_USEC
    CREDENTIALS_DIRECTORY LISTEN_FDS LISTEN_PID NOTIFY_SOCKET JOURNAL_STREAM INVOCATION_ID MANAGERPID SERVICE_RESULT`,
  'npm and CI': `npm_lifecycle_event npm_config_loglevel NODE_ENV NODE_OPTIONS NODE_VERSION UV_THREADPOOL_SIZE FORCE_COLOR
    INIT_CWD BUILD_NUMBER GITHUB_ACTIONS GITHUB_REF_NAME RUNNER_TEMP GITLAB_CI CI_PROJECT_DIR JENKINS_URL WORKSPACE`,
  'Docker and Kubernetes': `DOCKER_HOST COMPOSE_PROJECT_NAME KUBERNETES_SERVICE_HOST KUBERNETES_PORT_443_TCP_ADDR POD_NAME
    REDIS_SERVICE_HOST REDIS_PORT_6379_TCP MONGODB_SERVICE_HOST MONGODB_PORT METRICS_PORT_9090_TCP ADVOCACY_PORT
    STORAGE_SERVICE_PORT DOCS_PORT LOG_PORT`,
  'hosting services': `WEB_CONCURRENCY REDIS_TLS_URL REDIS_HOST REDIS_PASSWORD MONGODB_HOST MONGODB_USER MONGODB_DATABASE
    MONGO_INITDB_ROOT_PASSWORD DATABASE_URL AWS_REGION HTTP_PROXY NO_PROXY SENTRY_DSN PM2_HOME VERCEL_URL LOG_FORMAT`,
};

suite('a misspelled setting', {
  'is rejected with the name of the setting that is probably meant': () =>
    each(misspellings, (meant, name) => {
      const lines = getErrorLines({ [name]: '' });
      assert.equal(lines.length, 1);
      assert.ok(
        meant.some((setting) => lines[0] === `${name}: not a setting, did you mean ${setting}?`),
        lines[0],
      );
    }),

  'is any name of at least eight letters that differs from a setting by at most two edits': () =>
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.array(fc.nat(), { minLength: 2, maxLength: 4 }), (name, numbers) => {
        const once = editText(name, numbers.slice(0, 2));
        const twice = editText(once, numbers.slice(2));
        fc.pre(once !== name && once.length >= 8 && twice.length >= 8 && !names.includes(twice as Setting));
        assert.deepEqual(getErrorLines({ [once]: '' }), [`${once}: not a setting, did you mean ${name}?`]);
        assert.equal(getErrorLines({ [twice]: '' }).length, 1);
      }),
    ),

  'is not a variable of another program, a short name, or a name that differs too much': () =>
    each(unrelated, (list) =>
      each(textCases(...list.split(/\s+/)), (name) => assert.deepEqual(getErrorLines({ [name]: '' }), [])),
    ),
});

/** Inserts, replaces or deletes a letter of a text. The numbers choose the position and the edit. */
function editText(text: string, [position = 0, edit = 0]: readonly number[]): string {
  const index = position % (text.length + 1);
  return text.slice(0, index) + ['X', 'X', ''][edit % 3] + text.slice(index + (edit % 3 === 0 ? 0 : 1));
}
