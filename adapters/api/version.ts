import { readFileSync } from 'node:fs';

/** The version of the package. */
export const { version }: { readonly version: string } = JSON.parse(
  readFileSync(new URL(import.meta.resolve('workspace-advocacy/package.json')), 'utf8'),
);
