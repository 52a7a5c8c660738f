import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const LOOK_EVERY_MS = 100;

/** Gives each request to the next of the instances whose `/readyz` says 200; it never tries one again. */
export interface Balancer {
  readonly url: string;
  /** Resolves when the instance is given requests. */
  add(instance: string): Promise<void>;
  /** Forgets an instance, which has ended. */
  remove(instance: string): void;
  close(): void;
}

export async function startBalancer(): Promise<Balancer> {
  const ready = new Map<string, boolean>();
  const agent = new Agent({ keepAlive: true });
  let turn = 0;

  const server = createServer((from, to) => {
    const instances = [...ready].filter(([, isReady]) => isReady).map(([url]) => url);
    const instance = instances[turn++ % instances.length];
    if (instance === undefined) {
      to.writeHead(502).end('no instance is ready');
      return;
    }
    const { method, headers } = from;
    const onward = request(instance + from.url, { method, headers, agent }, (reply) => {
      const { connection: _, 'keep-alive': __, ...kept } = reply.headers;
      to.writeHead(reply.statusCode ?? 502, kept);
      reply.pipe(to);
    });
    onward.on('error', (error) => to.writeHead(502).end(String(error)));
    from.pipe(onward);
  });
  const look = async (instance: string) => {
    const status = await fetch(`${instance}/readyz`).then(
      (reply) => reply.status,
      () => 0,
    );
    if (ready.has(instance)) ready.set(instance, status === 200);
  };
  const looking = setInterval(() => {
    for (const instance of ready.keys()) look(instance);
  }, LOOK_EVERY_MS);

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async add(instance) {
      for (ready.set(instance, false); !ready.get(instance); await delay(LOOK_EVERY_MS)) await look(instance);
    },
    remove: (instance) => ready.delete(instance),
    close() {
      clearInterval(looking);
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}
