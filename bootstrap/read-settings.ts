import { z } from 'zod';
import { UsageError } from '../adapters/cli/usage-error.ts';
import { type AdapterChoice, namesWith, rateLimiters, storages } from './adapters.ts';
import { hostOf, overlaps } from './listen.ts';
import { findMisspellings, findShortMisspellings } from './setting-names.ts';
import { type Settings, settings } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The servers that must not listen on the same port, by the prefixes of their settings. */
const portPairs = [
  ['METRICS_', ''],
  ['LINKS_', ''],
  ['LINKS_', 'METRICS_'],
] as const;

const schema = z.object(settings).superRefine(
  ({ DEMO_WORKSPACE, DEMO_API_KEY, STORAGE, RATE_LIMITER, WORKERS, LINKS_URL, ...addresses }, context) => {
    const addProblem = (name: keyof Settings, message: string) =>
      context.addIssue({ code: 'custom', path: [name], message });
    if (DEMO_API_KEY !== undefined && DEMO_WORKSPACE === false) {
      addProblem('DEMO_API_KEY', 'not allowed with DEMO_WORKSPACE=false, remove it or set DEMO_WORKSPACE=true');
    }
    // If the name of an adapter is invalid, it has no entry in `storages` or `rateLimiters`.
    if (WORKERS > 1 && (storages[STORAGE]?.hasWorkers === false || rateLimiters[RATE_LIMITER]?.hasWorkers === false)) {
      const needed = `STORAGE=${namesWith(storages, 'hasWorkers')} and RATE_LIMITER=${namesWith(rateLimiters, 'hasWorkers')}`;
      addProblem('WORKERS', `more than 1 requires ${needed}, set both or set WORKERS=1`);
    }
    if (LINKS_URL !== undefined && addresses.LINKS_PORT === undefined) {
      addProblem('LINKS_URL', 'requires LINKS_PORT, set it or remove LINKS_URL');
    }
    for (const [name, other] of portPairs) {
      const port = addresses[`${name}PORT`];
      if (port && port === addresses[`${other}PORT`] && overlaps(hostOf(addresses, name), hostOf(addresses, other))) {
        addProblem(`${name}PORT`, `must differ from ${other}PORT, set another port`);
      }
    }
  },
  // Checks the combinations even if single values are invalid, so that one error has a line for every problem.
  { when: () => true },
);

/** Reads the settings from an environment. Throws a `UsageError` that has a line for every problem. */
export function readSettings(environment: Environment): Settings {
  const result = schema.safeParse(environment);
  const issues = result.error?.issues ?? [];
  const invalid = issues.map(({ path, message }) => ({ name: path.join('.'), message }));
  const problems = [...invalid, ...findDemoProblems(environment)];
  const lines = problems
    .filter(({ name }, i) => problems.findIndex((problem) => problem.name === name) === i)
    .map(({ name, message }) => `${name}: ${message}`);
  lines.push(...findMisspellings(environment));
  if (!result.success || lines.length > 0) throw new UsageError(lines);
  return result.data;
}

/** Returns a problem for each setting of the demo workspace that is given although the storage cannot have a demo workspace. */
function findDemoProblems(environment: Environment): { readonly name: string; readonly message: string }[] {
  const storage = settings.STORAGE.safeParse(environment.STORAGE).data;
  if (storage === undefined || storages[storage].hasDemo) return [];
  const others = namesWith(storages, 'hasDemo');
  const message = `not allowed with STORAGE=${storage}, remove it or set STORAGE=${others}`;
  return ['DEMO_WORKSPACE', 'DEMO_API_KEY']
    .filter((name) => environment[name] !== undefined)
    .map((name) => ({ name, message }));
}

/** Returns a warning for each probable mistake in an environment, other than those that prevent the start. */
export function getSettingWarnings(environment: Environment): string[] {
  const isHostIneffective = (prefix: string) =>
    environment[`${prefix}HOST`] !== undefined && environment[`${prefix}PORT`] === undefined;
  return [
    ...findShortMisspellings(environment),
    ...findIneffectiveLocations(environment, 'STORAGE', storages),
    ...findIneffectiveLocations(environment, 'RATE_LIMITER', rateLimiters),
    ...['METRICS_', 'LINKS_'].filter(isHostIneffective).map((it) => `${it}HOST: has no effect without ${it}PORT`),
  ];
}

/** Returns a warning for each given setting that only adapters other than the chosen one use. */
function findIneffectiveLocations(
  environment: Environment,
  name: 'STORAGE' | 'RATE_LIMITER',
  choices: Readonly<Record<string, AdapterChoice>>,
): string[] {
  const chosen = settings[name].safeParse(environment[name]).data;
  return Object.entries(choices)
    .filter(([value, { location }]) => location && environment[location] !== undefined && value !== chosen)
    .map(([value, { location }]) => `${location}: has no effect without ${name}=${value}`);
}
