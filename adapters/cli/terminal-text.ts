/** Control characters (C0, DEL, C1), line and paragraph separators, and bidirectional controls (Trojan Source). */
const CONTROL = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** Returns a text that cannot move the cursor of a terminal, ring its bell or change the direction of its text. */
export function harmless(text: string): string {
  return text.replace(CONTROL, '\ufffd');
}

/** Returns a text of several lines, each made harmless. */
export function printable(text: string): string {
  return text.split('\n').map(harmless).join('\n');
}

/** Returns a value as JSON that is harmless to a terminal: control characters are escaped as `\uXXXX`. */
export function harmlessJson(value: unknown): string {
  return JSON.stringify(value).replace(
    CONTROL,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
