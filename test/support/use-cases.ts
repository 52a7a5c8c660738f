import type { Application } from '../../core/application.ts';

/** The services of the application: its properties, without its own methods. */
type Services = {
  [S in keyof Application as Application[S] extends (...args: never[]) => unknown ? never : S]: Application[S];
};

/**
 * The names of all use cases, such as `tags.create`. A table with these names as keys does not compile if an entry is
 * missing.
 */
export type UseCaseName = { [S in keyof Services]: `${S}.${keyof Services[S] & string}` }[keyof Services] | 'runOnce';
