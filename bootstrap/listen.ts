import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Settings } from './settings.ts';
import { StartupError } from './startup-error.ts';

/**
 * The address of a server, such as `http://127.0.0.1:3000`, the address of its metrics if `METRICS_PORT` is set, and
 * the address that redirects short links if `LINKS_PORT` is set.
 */
export interface ListeningAddresses {
  readonly url: string;
  readonly metricsUrl: string | undefined;
  readonly linksUrl: string | undefined;
}

/** The prefixes of the settings that have the host and the port of a server. */
export type ServerPrefix = '' | 'METRICS_' | 'LINKS_';

/** Returns the host that a server listens on. */
export function getHost(settings: Pick<Settings, `${ServerPrefix}HOST`>, prefix: ServerPrefix): string {
  return settings[`${prefix}HOST`] ?? settings.HOST;
}

/**
 * The maximum number of connections that wait to be accepted. The operating system may lower this number
 * (net.core.somaxconn). It drops all further connections, and their clients retry after a second.
 */
const MAX_BACKLOG_COUNT = 4_096;

/**
 * Listens, and returns the URL. Rejects with a `StartupError` if it cannot listen. `prefix` is the prefix of the
 * settings that have the host and the port.
 */
export async function listen(server: Server, settings: Settings, prefix: ServerPrefix = ''): Promise<string> {
  const host = getHost(settings, prefix);
  const port = settings[`${prefix}PORT` as const];
  server.listen({ port, host, backlog: MAX_BACKLOG_COUNT });
  await once(server, 'listening').catch(({ code }: NodeJS.ErrnoException) => {
    const [setting, problem] = listenProblems[code ?? ''] ?? ['HOST', `${code}`];
    throw new StartupError([`${prefix}${setting}: cannot listen on ${host}:${port}, ${problem}`]);
  });
  return formatUrl(host, (server.address() as AddressInfo).port);
}

function formatUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The host names and addresses that only programs on this machine can connect to. */
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|::1)$/i;

/**
 * Returns the base URL of short links: `LINKS_URL`, or by default the URL of their listener if only this machine can
 * connect to it, so that the links of a demo work in a browser.
 */
export function getLinksUrl(settings: Settings): string | undefined {
  const { LINKS_URL, LINKS_PORT } = settings;
  const host = getHost(settings, 'LINKS_');
  if (LINKS_URL !== undefined || LINKS_PORT === undefined || !LOOPBACK.test(host)) return LINKS_URL;
  return formatUrl(host, LINKS_PORT);
}

/** Checks that a server can listen on `HOST` and `PORT`. Rejects with the errors of `listen`. */
export async function checkAddress(settings: Settings): Promise<void> {
  const server = createServer();
  await listen(server, settings);
  server.close();
  await once(server, 'close');
}

/** The setting to change, and the problem with its solution, for each error code of `listen`. */
const listenProblems: Readonly<Record<string, readonly [setting: 'HOST' | 'PORT', problem: string]>> = {
  EADDRINUSE: ['PORT', 'the port is in use, stop the other program or set another port'],
  EACCES: ['PORT', 'this user is not allowed to use the port, set a port of 1024 or more'],
  EADDRNOTAVAIL: ['HOST', 'the address does not belong to this machine, set another host'],
  EINVAL: ['HOST', 'the address is not valid for a server, set another host'],
  ENOTFOUND: ['HOST', 'the host name cannot be resolved, set another host'],
  EAI_AGAIN: ['HOST', 'the host name cannot be resolved, set another host'],
};
