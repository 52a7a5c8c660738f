import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export const root = join(import.meta.dirname, '../../..');

interface Service {
  readonly image: string;
  readonly environment: Readonly<Record<string, unknown>>;
  readonly ports?: readonly string[];
  readonly networks: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly volumes?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly restart?: string;
  readonly user?: string;
  readonly healthcheck?: object;
  readonly command?: readonly string[];
  readonly mem_limit?: string;
  readonly logging?: { readonly driver?: string; readonly options?: Readonly<Record<string, string>> };
}

/** The parts of `docker-compose.yml` that the tests check. */
export interface Compose {
  readonly services: Readonly<Record<'advocacy' | 'haproxy' | 'mongodb' | 'redis', Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

export const composeText = readFileSync(join(root, 'docker-compose.yml'), 'utf8');

export function parseCompose(text = composeText): Compose {
  return parse(text, { merge: true });
}

/**
 * A variable of docker-compose.yml: `${NAME}`, `${NAME:-text}` with a default, or `${NAME:?text}` with an error
 * message.
 */
interface Variable {
  readonly name: string;
  readonly kind: '-' | '?' | undefined;
  readonly text: string;
}

const VARIABLE = /\$\$|\$\{(\w+)(?::([-?])([^}]*))?\}/g;

export function parseVariables(text: string): Variable[] {
  return [...text.matchAll(VARIABLE)]
    .filter(([match]) => match !== '$$')
    .map(([, name, kind, rest]) => ({ name, kind, text: rest }) as Variable);
}

/**
 * Replaces the variables of a text. Throws if a variable has neither a value nor a default. Unlike in Docker Compose,
 * an empty value counts as a value.
 */
export function interpolate(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(VARIABLE, (match, name, kind, rest) => {
    if (match === '$$') return '$';
    const value = values[name] ?? (kind === '-' ? rest : undefined);
    if (value === undefined) throw new Error(`${name} ${rest}`);
    return value;
  });
}
