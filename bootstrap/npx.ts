const CHECK_INTERVAL_MS = 200;

/**
 * Makes a signal to `npx advocacy` reach this process. npm runs a command in a shell, and passes SIGTERM and SIGINT to that
 * shell only. bash replaces itself with the command. dash ends and leaves the command running. So if npm runs exactly this
 * command and the parent process ends, this process sends SIGTERM to itself.
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
