import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { RecordedResponse } from './requests.ts';

/**
 * This server shows the upper bound of `node:http`, because it only sends prepared responses. It selects them by the path of a
 * request, or by the name in the body of a POST.
 */
const responses = new Map<string | undefined, RecordedResponse>(
  JSON.parse(readFileSync(process.env.RESPONSES_FILE as string, 'utf8')),
);

const server = createServer((request, response) => {
  const respond = (key: string | undefined) => {
    const prepared = responses.get(key);
    response.writeHead(prepared?.status ?? 404, prepared?.headers).end(prepared?.body);
  };
  if (request.method !== 'POST') {
    respond(request.url);
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => respond(JSON.parse(Buffer.concat(chunks).toString()).name));
});

server.listen(Number(process.env.PORT), '127.0.0.1');
