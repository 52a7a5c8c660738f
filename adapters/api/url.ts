/**
 * Whether a text is a URL (WHATWG), or a reference that is valid relative to `base`. `canParse` of Node 20 and 22 rejects
 * URLs with Latin-1 letters as soon as V8 has optimized its caller, because it then takes their bytes for UTF-8.
 */
export function isUrl(text: string, base?: string): boolean {
  try {
    new URL(text, base);
    return true;
  } catch {
    return false;
  }
}
