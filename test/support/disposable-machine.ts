import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './compose.ts';
import { MissingDependencyError } from './missing-dependency-error.ts';
import { findProgram } from './server-program.ts';
import { withTemporaryFolder } from './temporary-folder.ts';

/**
 * Boots systemd on a copy of this machine, without a network, and runs a bash script there as root. All changes are in
 * memory, and are discarded at the end. `/repository` is this checkout. Resolves to the output of the script. Rejects
 * if a command of the script fails.
 */
export async function runOnDisposableMachine(script: string): Promise<string> {
  const nspawn = await findProgram('systemd-nspawn');
  if (process.getuid?.() !== 0) throw new MissingDependencyError('root, to boot systemd', { isOptional: true });
  return withTemporaryFolder(async (folder) => {
    const shared = join(folder, 'shared');
    mkdirSync(shared);
    writeFileSync(
      join(shared, 'run'),
      `#!/bin/bash\nexec >/shared/output 2>&1\nset -e\n${script}\ntouch /shared/done\n`,
    );
    chmodSync(join(shared, 'run'), 0o755);
    const nspawnArgs = [
      ...['--quiet', '--register=no', '--keep-unit', '--link-journal=no', '--private-network', '--console=pipe'],
      ...['--boot', `--machine=advocacy-${process.pid}`, `--directory=${folder}/memory/machine`],
      ...[`--bind=${shared}:/shared`, `--bind-ro=${root}:/repository`],
      ...['systemd.run=/shared/run', 'systemd.run_success_action=exit', 'systemd.run_failure_action=exit'],
    ];
    const mounts = [
      'mkdir memory && mount -t tmpfs tmpfs memory && cd memory && mkdir changes work machine',
      'mount -t overlay overlay -o lowerdir=/,upperdir=changes,workdir=work machine',
      `exec ${nspawn} ${nspawnArgs.join(' ')}`,
    ];
    const child = spawn(
      await findProgram('unshare'),
      ['--mount', '--propagation=private', 'sh', '-ec', mounts.join('\n')],
      {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let log = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (log += chunk));
    await once(child, 'close');
    const output = join(shared, 'output');
    if (!existsSync(output)) throw new MissingDependencyError(`a machine that boots: ${log}`, { isOptional: true });
    const text = readFileSync(output, 'utf8');
    if (!existsSync(join(shared, 'done'))) throw new Error(`a command failed:\n${text}`);
    return text;
  });
}
