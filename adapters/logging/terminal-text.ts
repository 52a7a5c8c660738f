/** Control characters (C0, DEL, C1), line and paragraph separators, and bidirectional controls (Trojan Source). */
const CONTROL_CHARACTERS = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Replaces each control character, including newlines, with U+FFFD. So the text cannot move the cursor of a terminal,
 * ring its bell or change the direction of its text.
 */
export function replaceControlCharacters(text: string): string {
  return text.replace(CONTROL_CHARACTERS, '\ufffd');
}

/** Replaces the control characters in each line of a text. Keeps the newlines. */
export function replaceControlCharactersInLines(text: string): string {
  return text.split('\n').map(replaceControlCharacters).join('\n');
}

/** Returns JSON that a terminal can show safely. Control characters are escaped as `\uXXXX`. */
export function escapeJsonForTerminal(json: string): string {
  return json.replace(CONTROL_CHARACTERS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
