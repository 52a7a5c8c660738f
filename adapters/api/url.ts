/**
 * Returns whether a text is a URL (WHATWG), or a reference that is valid relative to `base`. Does not use the static method
 * `canParse`, which has a bug in Node 20 and 22. Once V8 has optimized a caller of `canParse`, `canParse` reads Latin-1 text
 * as UTF-8, and rejects valid URLs.
 */
export function isUrl(text: string, base?: string): boolean {
  try {
    new URL(text, base);
    return true;
  } catch {
    return false;
  }
}
