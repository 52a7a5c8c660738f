import { settings } from './settings.ts';

/**
 * A misspelled name of at least this length, but less than `MIN_ERROR_NAME_LENGTH`, causes a warning. Shorter names often belong to other
 * programs.
 */
const MIN_WARNING_NAME_LENGTH = 4;
/** A misspelled name of at least this length prevents the start. */
const MIN_ERROR_NAME_LENGTH = 8;
const MAX_EDIT_COUNT = 2;

const settingNames = Object.keys(settings);

/**
 * Returns a line for each long name that is probably a misspelled setting. Such a name differs from a setting by at most two edits, or is
 * the beginning of a setting before a `_`, such as `BODY_LIMIT`.
 */
export function findMisspellings(environment: object): string[] {
  return describeMisspellings(environment, MIN_ERROR_NAME_LENGTH, Number.POSITIVE_INFINITY, (name) => {
    const byEdits = settingNames
      .map((setting) => ({ setting, edits: countEdits(name, setting) }))
      .sort((a, b) => a.edits - b.edits);
    const nearest = byEdits.find(({ edits }) => edits <= MAX_EDIT_COUNT)?.setting;
    return nearest ?? settingNames.find((setting) => setting.startsWith(`${name}_`));
  });
}

/** Returns a line for each short name that differs from the name of a setting by one edit or one swap of neighbors. */
export function findShortMisspellings(environment: object): string[] {
  return describeMisspellings(environment, MIN_WARNING_NAME_LENGTH, MIN_ERROR_NAME_LENGTH, (name) =>
    settingNames.find((setting) => countEdits(name, setting) === 1 || isSwapOf(name, setting)),
  );
}

function describeMisspellings(
  environment: object,
  minLength: number,
  endLength: number,
  findSetting: (name: string) => string | undefined,
): string[] {
  return Object.keys(environment).flatMap((name) => {
    if (name.length < minLength || name.length >= endLength || settingNames.includes(name)) return [];
    const setting = findSetting(name);
    return setting ? [`${name}: not a setting, did you mean ${setting}?`] : [];
  });
}

/** Returns whether swapping two neighboring letters turns one text into the other. */
function isSwapOf(a: string, b: string): boolean {
  return [...a].some((letter, i) => a.slice(0, i) + a.charAt(i + 1) + letter + a.slice(i + 2) === b);
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
