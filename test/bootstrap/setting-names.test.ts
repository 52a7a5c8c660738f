import assert from 'node:assert/strict';
import fc from 'fast-check';
import { findMisspellings, findShortMisspellings } from '../../bootstrap/setting-names.ts';
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
  NWORKERS: ['WORKERS'],
  MONGO_URI: ['MONGODB_URI'],
  LOG_LEVLE: ['LOG_LEVEL'],
  STORAGE_1: ['STORAGE'],
  // A beginning may also be two edits from the name of another setting.
  RATE_LIMIT: ['RATE_LIMITER', 'RATE_LIMIT_POINTS', 'RATE_LIMIT_WINDOW_SECONDS'],
  RATE_LIMIT_WINDOW: ['RATE_LIMIT_WINDOW_SECONDS'],
  REFUSED_CREDENTIALS: ['REFUSED_CREDENTIALS_PER_MINUTE'],
};

/** Variables that are not rejected as misspelled: those of other programs, and names that are short or differ too much. */
const unrelated: Readonly<Record<string, string>> = {
  'fewer than eight letters':
    'PORTS HOSTS HOSTT STORAG STORAGR WORKER WORKERZ MONGODB METRICS DOCS_UR LOGLEVL TRUST BODY',
  'three edits or more, and no beginning of a setting':
    'MONGO_URL TRUST_PROXIES LOG_LEVEL_V1 REDIS_PORT METRICS_PATH STORAGE_URL METRICS_ADDRESS DOCS_PATH',
  'a beginning that ends inside of a word': 'RATE_LIMIT_WIN REFUSED_CREDENTI BODY_LIM TRUST_PR',
  'a setting and further words':
    'RATE_LIMIT_WINDOW_SECONDS_MAX PORT_RANGE HOST_NAME STORAGE_PATH WORKERS_MAX REDIS_URL_READ',
  'another case': 'mongodb_url log_level rate_limit_window',
  'a shell':
    'HOSTNAME HOSTTYPE MACHTYPE LOGNAME PWD SHLVL TERM TERM_PROGRAM SSH_CONNECTION SSH_AUTH_SOCK DISPLAY EDITOR',
  'a shell, mostly short names': `HOME PATH SHELL USER LANG LC_ALL TERM MAIL EDITOR VISUAL PAGER LESS OLDPWD COLUMNS LINES TZ UID EUID
    PPID IFS OPTARG OPTIND RANDOM SECONDS HISTFILE MANPATH TMPDIR TMP TEMP SUDO_UID SUDO_GID DOMAIN GROUP GROUPS VENDOR
    OSTYPE CPU ARCH PS1 PS2 ENV BASH ZSH XDG_SEAT WINDOW STY TMUX LS_COLORS WSLENV DEBUG`,
  'systemd, among them short names':
    'MAINPID WATCHDOG_USEC CREDENTIALS_DIRECTORY LISTEN_FDS EXIT_CODE SERVICE_RESULT MANAGERPID',
  'tools, mostly short names': `NODE_ENV HTTPS GOPATH GOROOT CC CXX MAKE CFLAGS PERL5LIB RUSTUP PYENV_ROOT NVM_DIR NVM_BIN INIT_CWD npm_command
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

/**
 * The unrelated variables that cause no warning. The list `fewer than eight letters` is not included, because some of its names
 * resemble a setting and cause a warning.
 */
const { 'fewer than eight letters': _, ...unsuspicious } = unrelated;

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

suite('a warning about a misspelled setting', {
  'names a short misspelled variable, and the setting that is probably meant': () =>
    each({ STORGE: 'STORAGE', PROT: 'PORT', DOCSURL: 'DOCS_URL' }, (meant, name) => {
      assert.deepEqual(findShortMisspellings({ [name]: '' }), [`${name}: not a setting, did you mean ${meant}?`]);
      assert.deepEqual(findMisspellings({ [name]: '' }), []);
    }),

  'is logged for any variable of four to seven letters that differs from a setting by one edit or one swap': () =>
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.array(fc.nat(), { minLength: 2, maxLength: 2 }), (name, numbers) => {
        const index = (numbers[0] as number) % Math.max(1, name.length - 1);
        const swapped = name.slice(0, index) + name.charAt(index + 1) + name.charAt(index) + name.slice(index + 2);
        for (const wrong of [editText(name, numbers), swapped]) {
          const isExpected = wrong !== name && wrong.length >= 4 && wrong.length <= 7;
          assert.deepEqual(
            findShortMisspellings({ [wrong]: '' }),
            isExpected ? [`${wrong}: not a setting, did you mean ${name}?`] : [],
          );
        }
      }),
    ),

  'is not logged for variables of other programs, for names of three letters or for short names that differ by two edits':
    () =>
      each({ ...unsuspicious, others: 'PRT PTOR HSOTS STRGE HOSTING PORTAL EXPORT REPORT' }, (list) =>
        assert.deepEqual(findShortMisspellings(Object.fromEntries(list.split(/\s+/).map((name) => [name, '']))), []),
      ),
});

/** Inserts, replaces or deletes a letter of a text. The numbers choose the position and the edit. */
function editText(text: string, [position = 0, edit = 0]: readonly number[]): string {
  const index = position % (text.length + 1);
  return text.slice(0, index) + ['X', 'X', ''][edit % 3] + text.slice(index + (edit % 3 === 0 ? 0 : 1));
}
