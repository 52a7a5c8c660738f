/** What a test needs and this machine cannot have. The test is skipped, loudly; where `CI` is set, it fails. */
export class Missing extends Error {
  override readonly name = 'Missing';
}
