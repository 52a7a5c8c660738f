import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import type { TestEngine } from '../support/engines/engine.ts';
import { engines } from '../support/engines/engines.ts';
import { storeCommands } from './store-commands.ts';

type Commands = typeof storeCommands;
/** The arguments of a command, without the engine. */
type Arguments<N extends keyof Commands> = Commands[N] extends (engine: StorageEngine, ...args: infer A) => unknown
  ? A
  : never;

interface Request {
  readonly number: number;
  readonly name: keyof Commands;
  readonly args: readonly unknown[];
}

/** The first message of the process. */
const LOADED = 'loaded';

type Response = { readonly number: number } & ({ readonly result: unknown } | { readonly error: string });

/** Another process with a storage engine. It opens the database at its first command. */
export class StoreProcess {
  /** Resolves when the process has loaded the engine. */
  readonly loaded: Promise<unknown>;
  private readonly pending: { resolve(result: unknown): void; reject(error: Error): void }[] = [];
  private readonly child: ChildProcess;

  constructor({ name }: TestEngine, location: string) {
    this.child = fork(fileURLToPath(import.meta.url), [name, location], { serialization: 'advanced' });
    this.loaded = once(this.child, 'message');
    this.child.on('message', (response: Response | typeof LOADED) => {
      if (response === LOADED) return;
      const { resolve, reject } = this.pending[response.number] as StoreProcess['pending'][number];
      if ('error' in response) reject(new Error(response.error));
      else resolve(response.result);
    });
  }

  /**
   * Runs a command in the process. If the command throws, rejects with an error whose message is the kind of the
   * `CoreError`, or the text of any other error.
   */
  run<N extends keyof Commands>(name: N, ...args: Arguments<N>): Promise<Awaited<ReturnType<Commands[N]>>> {
    return new Promise((resolve, reject) => {
      const request: Request = {
        number: this.pending.push({ resolve: resolve as () => void, reject }) - 1,
        name,
        args,
      };
      this.child.send(request);
    });
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }
}

/** Runs in the other process: runs the commands of the parent with an engine. */
async function serve(name: keyof typeof engines, location: string): Promise<void> {
  const { open } = await engines[name]();
  let opening: ReturnType<typeof open> | undefined;
  const run = async ({ number, name, args }: Request): Promise<Response> => {
    try {
      opening ??= open(location, Date.now);
      const { engine } = await opening;
      return { number, result: await (storeCommands[name] as (...args: unknown[]) => unknown)(engine, ...args) };
    } catch (error) {
      return { number, error: error instanceof CoreError ? error.kind : String(error) };
    }
  };
  process.on('message', async (request: Request) => process.send?.(await run(request)));
  process.on('disconnect', () => process.exit());
  process.send?.(LOADED);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await serve(process.argv[2] as keyof typeof engines, process.argv[3] as string);
}
