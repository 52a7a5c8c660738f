import { settings } from './settings.ts';

/** Shorter names often belong to other programs. */
const MIN_NAME_LENGTH = 8;
const MAX_EDIT_COUNT = 2;

/**
 * Returns a line for each long name that is probably a misspelled setting. Such a name differs from a setting by at
 * most two edits, or is the beginning of a setting before a `_`, such as `BODY_LIMIT`.
 */
export function findMisspellings(environment: object): string[] {
  const settingNames = Object.keys(settings);
  return Object.keys(environment).flatMap((name) => {
    if (name.length < MIN_NAME_LENGTH || settingNames.includes(name)) return [];
    const byEdits = settingNames
      .map((setting) => ({ setting, edits: countEdits(name, setting) }))
      .sort((a, b) => a.edits - b.edits);
    const nearest = byEdits.find(({ edits }) => edits <= MAX_EDIT_COUNT)?.setting;
    const meant = nearest ?? settingNames.find((setting) => setting.startsWith(`${name}_`));
    return meant ? [`${name}: not a setting, did you mean ${meant}?`] : [];
  });
}

/** Returns the Levenshtein distance of two texts. */
function countEdits(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const row = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replacement = (previous[j] as number) + (a[i] === b[j] ? 0 : 1);
      row.push(Math.min(replacement, (previous[j + 1] as number) + 1, (row[j] as number) + 1));
    }
    previous = row;
  }
  return previous[b.length] as number;
}
