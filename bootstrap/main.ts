import { UsageError } from '../adapters/cli/usage-error.ts';
import { runServer } from './run-server.ts';

try {
  if (process.argv.length > 2)
    throw new UsageError(['The server takes no arguments. For commands, run `npx advocacy --help`.']);
  await runServer(process.env);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  for (const line of error.lines) console.error(line);
  process.stderr.write('', () => process.exit(1));
}
