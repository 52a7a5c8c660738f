import { createServer } from 'node:http';
import type { Answer } from './requests.ts';

/** What `node:http` alone can do: it answers with bytes that it was given, and looks at nothing but the method and the path. */
const answers = new Map(Object.entries(JSON.parse(process.env.ANSWERS as string) as Record<string, Answer>));

const server = createServer((request, response) => {
  const given = answers.get(`${request.method} ${request.url}`);
  const answer = () => response.writeHead(given?.status ?? 404, given?.headers).end(given?.body);
  if (request.method !== 'POST') {
    answer();
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString());
    answer();
  });
});

server.listen(Number(process.env.PORT), '127.0.0.1');
