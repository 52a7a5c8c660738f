import { getHost } from './listen.ts';
import { findMisspellings } from './misspelled-settings.ts';
import { rateLimiters } from './rate-limiters.ts';
import { type Settings, settings } from './settings.ts';
import { StartupError } from './startup-error.ts';
import { listStoragesWith, storages } from './storages.ts';

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** The pairs of servers that must not listen on the same address, as the prefixes of their settings. */
const portPairs = [
  ['METRICS_', ''],
  ['LINKS_', ''],
  ['LINKS_', 'METRICS_'],
] as const;

/**
 * Reads the settings from an environment. Throws a `StartupError` with a line for each invalid setting and each
 * misspelled name.
 */
export function readSettings(environment: EnvironmentVariables): Settings {
  const parsed = Object.entries(settings).map(([name, schema]) => [name, schema.safeParse(environment[name])] as const);
  const given = parsed.filter(([, { data }]) => data !== undefined);
  const values = Object.fromEntries(given.map(([name, { data }]) => [name, data])) as Settings;
  const conflicts = Object.fromEntries(findConflicts(values, environment));
  const lines = parsed.flatMap(([name, { error }]) => {
    const problem = error?.issues[0]?.message ?? conflicts[name];
    return problem === undefined ? [] : [`${name}: ${problem}`];
  });
  lines.push(...findMisspellings(environment));
  if (lines.length > 0) throw new StartupError(lines);
  return values;
}

/**
 * Finds the settings that are not allowed together with other settings. Yields the setting to change, and the problem.
 * An invalid setting is `undefined`.
 */
function* findConflicts(
  { DEMO_WORKSPACE, DEMO_API_KEY, STORAGE, LINKS_URL, ...addresses }: Settings,
  environment: EnvironmentVariables,
): Generator<[name: keyof Settings, problem: string]> {
  if (DEMO_API_KEY !== undefined && DEMO_WORKSPACE === false) {
    yield ['DEMO_API_KEY', 'not allowed with DEMO_WORKSPACE=false, remove it or set DEMO_WORKSPACE=true'];
  }
  if (LINKS_URL !== undefined && addresses.LINKS_PORT === undefined) {
    yield ['LINKS_URL', 'requires LINKS_PORT, set it or remove LINKS_URL'];
  }
  for (const [name, other] of portPairs) {
    const port = addresses[`${name}PORT`];
    if (port && port === addresses[`${other}PORT`] && getHost(addresses, name) === getHost(addresses, other))
      yield [`${name}PORT`, `must differ from ${other}PORT, set another port`];
  }
  for (const name of ['DEMO_WORKSPACE', 'DEMO_API_KEY'] as const) {
    if (environment[name] === undefined || storages[STORAGE]?.hasDemo !== false) continue;
    const others = listStoragesWith('hasDemo');
    yield [name, `not allowed with STORAGE=${STORAGE}, remove it or set STORAGE=${others}`];
  }
}

/** Returns a warning for each setting that is given, but has no effect without another setting. */
export function getSettingWarnings(environment: EnvironmentVariables): string[] {
  const { STORAGE, RATE_LIMITER, METRICS_PORT, LINKS_PORT } = readSettings(environment);
  const listLocations = (name: string, choices: Readonly<Record<string, { readonly locationSetting?: string }>>) =>
    Object.entries(choices).map(([value, { locationSetting }]) => [locationSetting, `${name}=${value}`] as const);
  const metConditions = [`STORAGE=${STORAGE}`, `RATE_LIMITER=${RATE_LIMITER}`];
  if (METRICS_PORT !== undefined) metConditions.push('METRICS_PORT');
  if (LINKS_PORT !== undefined) metConditions.push('LINKS_PORT');
  return [
    ...listLocations('STORAGE', storages),
    ...listLocations('RATE_LIMITER', rateLimiters),
    ...(['METRICS', 'LINKS'] as const).map((name) => [`${name}_HOST`, `${name}_PORT`] as const),
  ]
    .filter(([name, condition]) => name && environment[name] !== undefined && !metConditions.includes(condition))
    .map(([name, condition]) => `${name}: has no effect without ${condition}`);
}
