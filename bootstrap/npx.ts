const CHECK_INTERVAL_MS = 200;

/**
 * Stops this process when `npx advocacy` gets SIGTERM. npm runs a command in a shell, and sends signals to that shell only. With bash, the
 * command has replaced the shell, and gets the signals. With dash, SIGTERM ends the shell, but not the command. So this process sends
 * SIGTERM to itself when its parent process exits. It does so only if the shell runs just `advocacy`, and not a script such as
 * `npx --call 'advocacy; …'`. With dash, SIGINT to npx alone has no effect.
 */
export function relaySignalsOfNpx({ npm_lifecycle_event, npm_lifecycle_script }: NodeJS.ProcessEnv): void {
  if (npm_lifecycle_event !== 'npx' || !["'advocacy'", 'advocacy'].includes(npm_lifecycle_script ?? '')) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, CHECK_INTERVAL_MS).unref();
}
