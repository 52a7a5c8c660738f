import assert from 'node:assert/strict';
import fc from 'fast-check';
import { sendRaw } from '../support/raw-requests.ts';
import { quickOrLong } from '../support/scale.ts';
import { type Api, DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const HEAD = `Host: localhost\r\nAuthorization: Bearer ${DEMO_API_KEY}\r\nConnection: close\r\n`;
const formatRequest = (method: string, path: string, body: string) =>
  `${method} ${path} HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

const seeds = [
  `GET /campaigns?tagNames=launch&filter=active&page=1&search=tents HTTP/1.1\r\n${HEAD}\r\n`,
  `GET /campaigns/01890000-0000-7000-8000-000000000000 HTTP/1.1\r\n${HEAD}\r\n`,
  `GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /domains HTTP/1.0\r\n\r\n`,
  formatRequest('POST', '/domains', '{"slug": "fuzz.example", "archived": false}'),
  formatRequest('POST', '/inspiration-questions', '{"question": "What is not in the table?", "groups": []}'),
  formatRequest('PATCH', '/content-pillars/01890000-0000-7000-8000-000000000000', '{"title": "Nobody\'s"}'),
  `POST /domains HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"slu\r\n0\r\n\r\n`,
];

/** A mutation of bytes: it deletes `drop` bytes and inserts `insert`. The position `at` is a fraction of the length. */
const mutation = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  drop: fc.nat({ max: 12 }),
  insert: fc.oneof(
    fc.uint8Array({ maxLength: 6 }),
    fc
      .constantFrom(
        '\r\n',
        '\r\n\r\n',
        '\0',
        '%',
        '%ff',
        ' ',
        ':',
        ',',
        '"',
        '{',
        '[',
        '\\u0000',
        '9'.repeat(20),
        'chunked',
        '\xff',
      )
      .map((text) => Buffer.from(text, 'latin1')),
  ),
});

const requests = fc.record({
  seed: fc.constantFrom(...seeds),
  mutations: fc.array(mutation, { minLength: 1, maxLength: 4 }),
});

function mutate({ seed, mutations }: typeof requests extends fc.Arbitrary<infer T> ? T : never): Buffer {
  return mutations.reduce(
    (bytes, { at, drop, insert }) => {
      const start = Math.floor(at * bytes.length);
      return Buffer.concat([bytes.subarray(0, start), insert, bytes.subarray(start + drop)]);
    },
    Buffer.from(seed, 'latin1'),
  );
}

suite('mutated requests', {
  'get responses of the API or a cleanly closed connection, never a 500, and store nothing if they are rejected': () =>
    withService(async (api) => {
      let before = await listAll(api);
      const property = fc.asyncProperty(requests, async (request) => {
        const responses = await sendRaw(api.url, [mutate(request)], true);
        for (const { status, body } of responses) {
          assert.ok([200, 201, 400, 401, 404, 409, 422].includes(status), `${status} ${body}`);
          if (status >= 400) assert.deepEqual(Object.keys(JSON.parse(body).error), ['code', 'message', 'doc_url']);
        }
        const after = await listAll(api);
        if (!responses.some(({ status }) => status < 300)) assert.equal(after, before);
        before = after;
      });
      await fc.assert(property, { numRuns: quickOrLong(500, 20_000), seed: 42 });
    }),
});

async function listAll({ call }: Api): Promise<string> {
  const lists = ['/domains?includeArchived=true', '/inspiration-questions?includeArchived=true', '/content-pillars'];
  return (await Promise.all(lists.map(async (path) => (await call('GET', path)).text))).join();
}
