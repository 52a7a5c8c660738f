import leven from 'leven';
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
      .map((setting) => ({ setting, edits: leven(name, setting) }))
      .sort((a, b) => a.edits - b.edits);
    const nearest = byEdits.find(({ edits }) => edits <= MAX_EDIT_COUNT)?.setting;
    const meant = nearest ?? settingNames.find((setting) => setting.startsWith(`${name}_`));
    return meant ? [`${name}: not a setting, did you mean ${meant}?`] : [];
  });
}
