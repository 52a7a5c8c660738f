import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Answer } from './requests.ts';

/**
 * What `node:http` alone can do: it answers with bytes that it was given, and looks at nothing but the path, or at the name of
 * what is sent.
 */
const answers = new Map<string | undefined, Answer>(JSON.parse(readFileSync(process.env.ANSWERS as string, 'utf8')));

const server = createServer((request, response) => {
  const answer = (to: string | undefined) => {
    const given = answers.get(to);
    response.writeHead(given?.status ?? 404, given?.headers).end(given?.body);
  };
  if (request.method !== 'POST') {
    answer(request.url);
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => answer(JSON.parse(Buffer.concat(chunks).toString()).name));
});

server.listen(Number(process.env.PORT), '127.0.0.1');
