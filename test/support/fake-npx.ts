import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { CLI_PATH } from './command-line.ts';
import { withTemporaryFolder } from './temporary-folder.ts';

/**
 * Passes a new folder and an environment to a test. In this environment, `npx` starts the command line directly. The `npx` of npm
 * takes a second for each command.
 */
export function withFakeNpx(
  test: (folder: string, env: Readonly<Record<string, string>>) => Promise<void>,
): Promise<void> {
  return withTemporaryFolder(async (folder) => {
    const script = `#!/bin/sh\nshift\nexec "${process.execPath}" "${CLI_PATH}" "$@"\n`;
    await writeFile(join(folder, 'npx'), script, { mode: 0o755 });
    await test(folder, { PATH: `${folder}${delimiter}${process.env.PATH}` });
  });
}
