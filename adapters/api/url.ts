/**
 * Returns whether a text is a URL (WHATWG), or a reference that is valid relative to `base`. It does not use
 * the static method `canParse`: in Node 20 and 22, when V8 has optimized the caller, that reads Latin-1 text as UTF-8 and
 * rejects it.
 */
export function isUrl(text: string, base?: string): boolean {
  try {
    new URL(text, base);
    return true;
  } catch {
    return false;
  }
}
