import { runServer } from './run-server.ts';
import { StartupError } from './startup-error.ts';

try {
  if (process.argv.length > 2)
    throw new StartupError(['The server takes no arguments. For commands, run `npx advocacy --help`.']);
  await runServer(process.env);
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  console.error(error.message);
  process.stderr.write('', () => process.exit(1));
}
