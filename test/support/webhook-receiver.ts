import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

/** A request that a webhook got. */
export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface WebhookReceiver {
  readonly url: string;
  readonly port: number;
  readonly requests: ReceivedRequest[];
  /** Closes the server and all connections. */
  close(): Promise<void>;
}

/** The setting that lets webhooks send to a receiver. */
export const RECEIVER_SETTINGS = { WEBHOOK_NETWORKS: '127.0.0.0/8,::1' };

/** A certificate of `localhost` and 127.0.0.1 for tests, which no system trusts. */
export const TEST_CERTIFICATE = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgeEBT8wPueBX7+4CS
OGAVcxyODU5Rwf/Jv5mFy3BoFdOhRANCAASiE0PfdhKtJc//aJZy6DadZTUH0NJr
7QrSCkJE8NHOW7gTw4GrD4IWyQOb+IAd1Wv27YclaWASu2g+5G8oc4e/
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBozCCAUmgAwIBAgIUIPiqC4am9TwRG7hGNW9tYHMh45YwCgYIKoZIzj0EAwIw
GDEWMBQGA1UEAwwNd2ViaG9va3MudGVzdDAgFw0yNjExMjcwODE1MjNaGA8yMTI2
MTEwMzA4MTUyM1owGDEWMBQGA1UEAwwNd2ViaG9va3MudGVzdDBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABKITQ992Eq0lz/9olnLoNp1lNQfQ0mvtCtIKQkTw0c5b
uBPDgasPghbJA5v4gB3Va/bthyVpYBK7aD7kbyhzh7+jbzBtMB0GA1UdDgQWBBRP
DMUwV02y2Ri0NgGSeAa0+eOLpTAfBgNVHSMEGDAWgBRPDMUwV02y2Ri0NgGSeAa0
+eOLpTAPBgNVHRMBAf8EBTADAQH/MBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAA
ATAKBggqhkjOPQQDAgNIADBFAiEAoY9MVEPl4tFDXzsazCE3Kow9PNI7c5yoDqWL
BtNga3wCIDtFkQas/mCS/dCE3DOUwK6wNetvBEUolgSR4y0e9FwO
-----END CERTIFICATE-----`,
};

/** Runs a server that receives webhooks. By default, it responds with the status 204. */
export async function startReceiver(
  respond: (request: ReceivedRequest, ...args: Parameters<RequestListener>) => unknown = (
    _request,
    _message,
    response,
  ) => response.writeHead(204).end(),
  isSecure = false,
  port = 0,
): Promise<WebhookReceiver> {
  const requests: ReceivedRequest[] = [];
  const listener: RequestListener = async (message, response) => {
    const request = { path: message.url ?? '', headers: message.headers, body: await text(message) };
    requests.push(request);
    respond(request, message, response);
  };
  const server = isSecure ? createSecureServer(TEST_CERTIFICATE, listener) : createServer(listener);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: boundPort } = server.address() as AddressInfo;
  return {
    url: `http${isSecure ? 's' : ''}://127.0.0.1:${boundPort}/hook`,
    port: boundPort,
    requests,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Returns the event of a request. Throws if the signature is wrong. */
export function verify(secret: string, { body, headers }: ReceivedRequest) {
  const event = new Webhook(secret).verify(body, headers as Record<string, string>) as {
    readonly id: string;
    readonly sequence: number;
    readonly type: string;
    readonly createdAt: string;
    readonly data: Readonly<Record<string, string>>;
  };
  if (event.id !== headers['webhook-id']) throw new Error(`webhook-id of ${event.id}: ${headers['webhook-id']}`);
  return event;
}
