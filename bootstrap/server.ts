import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Application } from '../core/application.ts';
import type { System } from '../core/shared/system.ts';
import { tokens, wire } from './container.ts';
import { createDemo, type Demo } from './demo.ts';
import { type Settings, SettingsError } from './settings.ts';
import { nodeSystem } from './system.ts';

/** A service that listens. */
export interface Running {
  /** Where, as `http://127.0.0.1:3000`. */
  readonly url: string;
  readonly application: Application;
  readonly demo: Demo;
  /** Stops listening and closes what is open. */
  stop(): Promise<void>;
}

/** Starts the service. Throws a `SettingsError` where it cannot listen at HOST and PORT. */
export async function start(settings: Settings, system: System = nodeSystem(settings.DEMO_API_KEY)): Promise<Running> {
  const container = await wire(settings, system);
  const application = container.get(tokens.application);
  const demo = await createDemo(application, system.now(), settings.DEMO_API_KEY);
  const server = container.get(tokens.server);
  await listen();
  const { port } = server.address() as AddressInfo;
  const host = settings.HOST.includes(':') ? `[${settings.HOST}]` : settings.HOST;
  return { url: `http://${host}:${port}`, application, demo, stop };

  async function listen(): Promise<void> {
    server.listen(settings.PORT, settings.HOST);
    await once(server, 'listening').catch(({ code }: NodeJS.ErrnoException) => {
      throw new SettingsError([
        `${settings.HOST}:${settings.PORT} cannot be listened at: ${reasons[code ?? ''] ?? code}`,
      ]);
    });
  }

  async function stop(): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    server.closeIdleConnections();
    await closed;
  }
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something listens there already, so stop that or set PORT',
  EACCES: 'this user may not, so set PORT to 1024 or more',
  EADDRNOTAVAIL: 'this machine has no such address, so set HOST',
  ENOTFOUND: 'the name cannot be resolved, so set HOST',
};
