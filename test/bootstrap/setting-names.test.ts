import assert from 'node:assert/strict';
import fc from 'fast-check';
import { findMisspellings } from '../../bootstrap/setting-names.ts';
import { settings } from '../../bootstrap/settings.ts';
import { each, textCases } from '../support/each.ts';
import { suite } from '../support/suite.ts';

type Setting = keyof typeof settings;

const names = Object.keys(settings) as Setting[];

/** Misspelled names, with the settings that may be meant: one edit, two edits, and the beginning of a setting's name. */
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

/** Variables that are not rejected as misspelled: those of other programs, and names that are short or differ too much. */
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
      const lines = findMisspellings({ [name]: '' });
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
        assert.deepEqual(findMisspellings({ [once]: '' }), [`${once}: not a setting, did you mean ${name}?`]);
        assert.equal(findMisspellings({ [twice]: '' }).length, 1);
      }),
    ),

  'is not a variable of another program, a short name, or a name that differs too much': () =>
    each(unrelated, (list) =>
      each(textCases(...list.split(/\s+/)), (name) => assert.deepEqual(findMisspellings({ [name]: '' }), [])),
    ),
});

/** Inserts, replaces or deletes a letter of a text. The numbers choose the position and the edit. */
function editText(text: string, [position = 0, edit = 0]: readonly number[]): string {
  const index = position % (text.length + 1);
  return text.slice(0, index) + ['X', 'X', ''][edit % 3] + text.slice(index + (edit % 3 === 0 ? 0 : 1));
}
