import { createServer } from 'node:http';

/** The reference for short links: a server that responds to every request with the same redirect. */
const headers = { Location: 'https://northwind.example/spring', 'Content-Length': 0 };
createServer((_request, response) => response.writeHead(302, headers).end()).listen(
  Number(process.env.PORT),
  '127.0.0.1',
);
