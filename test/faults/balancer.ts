import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const PROBE_INTERVAL_MS = 100;

/** A load balancer. It sends each request to the next instance whose `/readyz` returns 200, and never retries. */
export interface Balancer {
  readonly url: string;
  /** Adds an instance. Resolves when the instance is ready and gets requests. */
  add(instance: string): Promise<void>;
  /** Removes an instance that has exited. */
  remove(instance: string): void;
  close(): void;
}

export async function startBalancer(): Promise<Balancer> {
  const ready = new Map<string, boolean>();
  const agent = new Agent({ keepAlive: true });
  let nextIndex = 0;

  const server = createServer((from, to) => {
    const instances = [...ready].filter(([, isReady]) => isReady).map(([url]) => url);
    const instance = instances[nextIndex++ % instances.length];
    if (instance === undefined) {
      to.writeHead(502).end('no instance is ready');
      return;
    }
    const { method, headers } = from;
    const forwarded = request(instance + from.url, { method, headers, agent }, (response) => {
      const { connection: _, 'keep-alive': __, ...endToEndHeaders } = response.headers;
      to.writeHead(response.statusCode ?? 502, endToEndHeaders);
      response.pipe(to);
    });
    forwarded.on('error', (error) => to.writeHead(502).end(String(error)));
    from.pipe(forwarded);
  });
  const probe = async (instance: string) => {
    const status = await fetch(`${instance}/readyz`).then(
      (response) => response.status,
      () => 0,
    );
    if (ready.has(instance)) ready.set(instance, status === 200);
  };
  const probing = setInterval(() => {
    for (const instance of ready.keys()) probe(instance);
  }, PROBE_INTERVAL_MS);

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async add(instance) {
      for (ready.set(instance, false); !ready.get(instance); await delay(PROBE_INTERVAL_MS)) await probe(instance);
    },
    remove: (instance) => ready.delete(instance),
    close() {
      clearInterval(probing);
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}
