import { createServer } from 'node:http';
import type { Answer } from './bench.ts';

/** What `node:http` alone can do: it answers with bytes that it was given, and looks at nothing but the method and the path. */
const { list, get, create } = JSON.parse(process.env.ANSWERS as string) as Record<string, Answer>;

const server = createServer((request, response) => {
  const answer = (given: Answer | undefined) =>
    response.writeHead(given?.status ?? 404, given?.headers).end(given?.body);
  if (request.method !== 'POST') {
    answer(request.url === '/campaigns' ? list : get);
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString());
    answer(create);
  });
});

server.listen(Number(process.env.PORT), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
