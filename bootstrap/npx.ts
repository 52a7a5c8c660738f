const CHECK_INTERVAL_MS = 200;

/**
 * Stops this process when `npx advocacy` gets a signal. npm runs a command in a shell, and sends SIGTERM and SIGINT to that
 * shell only. With bash, the command replaces the shell. With dash, the shell exits and the command keeps running. So if npm
 * runs exactly this command and the parent process exits, this process sends SIGTERM to itself.
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
