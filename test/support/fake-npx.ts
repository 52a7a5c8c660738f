import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { delimiter, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { CLI_PATH, runOnDatabase } from './command-line.ts';
import { withTemporaryFolder } from './temporary-folder.ts';

/**
 * Passes a new folder and an environment to a test. In this environment, `npx` sends its command line to this process,
 * which runs it. Starting a process takes much longer, and the `npx` of npm takes a second. Only `serve` starts a
 * process.
 */
export function withFakeNpx(
  test: (folder: string, env: Readonly<Record<string, string>>) => Promise<void>,
): Promise<void> {
  return withTemporaryFolder(async (folder) => {
    const server = createServer(async (request, response) => {
      const [cwd = '', file = '', level = '', count, ...words] = (await buffer(request)).toString().split('\0');
      process.chdir(cwd);
      const stdin = words.slice(Number(count)).join('\0');
      const settings = { SQLITE_FILE: file, LOG_LEVEL: level };
      const output = await runOnDatabase(words.slice(0, Number(count)), settings, { stdin: [stdin] });
      response.end(output.stdout + output.stderr);
    });
    const socket = join(folder, 'npx.socket');
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    const script = `#!/bin/sh
shift
[ "$1" = serve ] && exec "${process.execPath}" "${CLI_PATH}" "$@"
{ printf '%s\\0' "$PWD" "$SQLITE_FILE" "\${LOG_LEVEL:-info}" "$#" "$@"; case " $* " in *" - "*) cat;; esac; } |
  curl -s --unix-socket "${socket}" --data-binary @- http://npx/
`;
    await writeFile(join(folder, 'npx'), script, { mode: 0o755 });
    const cwd = process.cwd();
    try {
      await test(folder, { PATH: `${folder}${delimiter}${process.env.PATH}` });
    } finally {
      process.chdir(cwd);
      server.close();
    }
  });
}
