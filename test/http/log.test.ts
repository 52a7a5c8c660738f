import assert from 'node:assert/strict';
import { UNKNOWN_ID } from '../support/expected-responses.ts';
import { allOperations, getInputFields, newValidCall } from '../support/operations.ts';
import { withProcess } from '../support/process.ts';
import { callRaw, type RawRequest, sendRaw } from '../support/raw-requests.ts';
import { type ApiResponse, DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import type { Tenant } from '../support/tenants.ts';

const KEY = { Authorization: `Bearer ${DEMO_API_KEY}` };

/** A text that the test puts into every part of a request. */
const SECRET = 'confidential';

/** Sends `SECRET` in each part of a request to each operation, and resolves to the statuses of the responses. */
async function sendSecrets(url: string): Promise<number[]> {
  const statuses: number[] = [];
  const sendRequest = async (request: RawRequest): Promise<ApiResponse> => {
    const response = await callRaw({ url }, { key: DEMO_API_KEY, ...request });
    statuses.push(response.status);
    return response;
  };
  const ids = await findDemoIds(sendRequest);
  for (const [, operation] of allOperations) {
    const call = () => newValidCall(operation, { ids });
    const { path, body } = call();
    const send = (other: Partial<RawRequest>) => sendRequest({ method: operation.method, target: path, ...other });
    const names = [SECRET, ...Object.keys(operation.query.shape)];
    for (const name of names) await send({ target: `${path}?${name}=${SECRET}` });
    for (const more of [`?${SECRET}=%ff`, SECRET, `/${SECRET}`, `/${SECRET}%ff`]) await send({ target: path + more });
    if (!body) continue;
    const sendBody = (given: unknown, ...headers: (readonly [string, string])[]) =>
      send({
        body: typeof given === 'string' ? given : JSON.stringify(given),
        headers: [...JSON_BODY, ...headers],
      });
    for (const name of [SECRET, ...getInputFields(operation.body).map(([field]) => field)]) {
      for (const value of [SECRET, [SECRET], { [SECRET]: SECRET }]) await sendBody({ ...call().body, [name]: value });
    }
    for (const broken of [`{"name":"${SECRET}`, `["${SECRET}"]`, `{"name":"${SECRET}\\ud800"}`]) await sendBody(broken);
    // The Idempotency-Key is sent with a body, with the same body again, and with a new body.
    const repeatedBody = call().body;
    for (const given of [repeatedBody, repeatedBody, call().body]) await sendBody(given, ['Idempotency-Key', SECRET]);
    await sendBody(repeatedBody);
    await sendBody(call().body, ['Idempotency-Key', `${SECRET} ${SECRET}`]);
  }
  for (const [method, target, body] of [
    ['GET', '/campaigns'],
    ['POST', '/tags', '{}'],
  ] as const) {
    for (const name of HEADERS) await sendRequest({ method, target, body, headers: [...JSON_BODY, [name, SECRET]] });
    for (const value of [SECRET, `Basic ${SECRET}`, `Bearer ${SECRET}`, `Bearer ${DEMO_API_KEY} ${SECRET}`]) {
      await sendRequest({ method, target, body, key: null, headers: [['Authorization', value]] });
    }
  }
  return statuses;
}

const JSON_BODY = [['Content-Type', 'application/json']] as const;
const HEADERS = [
  ...['Host', 'Cookie', 'User-Agent', 'Referer', 'Accept', 'Expect', 'X-Forwarded-For', 'X-Request-Id', 'traceparent'],
  ...['Content-Encoding', 'Content-Length', 'Transfer-Encoding', 'Idempotency-Key', 'Authorization'],
  `bad ${SECRET}`,
];

/**
 * Returns IDs by the path segments of their resources: IDs of demo records, IDs of a new tag and a new key, and an
 * unknown ID for groups.
 */
async function findDemoIds(send: (request: RawRequest) => Promise<ApiResponse>): Promise<Tenant['ids']> {
  const create = async (kind: string, body: string) =>
    (await send({ method: 'POST', target: `/${kind}`, headers: JSON_BODY, body })).json.id;
  const first = async (kind: string) => (await send({ method: 'GET', target: `/${kind}` })).json[0].id;
  return {
    campaigns: await first('campaigns'),
    'inspiration-questions': await first('inspiration-questions'),
    'content-pillars': await first('content-pillars'),
    domains: await first('domains'),
    groups: UNKNOWN_ID,
    members: await first('members?sortOrder=desc'),
    tags: await create('tags', '{"name":"of the log"}'),
    keys: await create('keys', '{}'),
    webhooks: await create('webhooks', '{"url":"https://a.example"}'),
  };
}

interface Log {
  /** The log lines about requests. */
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts the shape that it expects
  readonly lines: readonly any[];
  readonly stderr: string;
}

/** Runs a service as a process. Calls `work`, which sends requests, and then stops the service. Resolves to its log. */
async function runAndReadLog(settings: Record<string, string>, work: (url: string) => Promise<unknown>): Promise<Log> {
  let stderr = '';
  await withProcess(settings, async ({ url, child, output, waitForExit }) => {
    await work(url);
    child.kill('SIGTERM');
    await waitForExit();
    stderr = output.stderr;
  });
  const lines = stderr.split('\n').filter((line) => line.includes('"requestId"'));
  return { lines: lines.map((line) => JSON.parse(line)), stderr };
}

suite('the log', {
  'has a JSON line for each request, with the request ID of the response': async () => {
    const path = `/campaigns/${UNKNOWN_ID}`;
    let responses: Response[] = [];
    const { lines } = await runAndReadLog({}, async (url) => {
      responses = [
        await fetch(`${url}/campaigns?search=tents`, { headers: KEY }),
        await fetch(url + path, { headers: KEY }),
        await fetch(`${url}/campaigns`),
        await fetch(`${url}/nothing?of=this`),
        await fetch(`${url}/healthz`),
        await fetch(`${url}/readyz`),
      ];
    });
    assert.equal(lines.length, responses.length);
    for (const [i, { headers, status }] of responses.entries()) {
      const { requestId, method, milliseconds } = lines[i];
      assert.deepEqual([requestId, lines[i].status, method], [headers.get('x-request-id'), status, 'GET']);
      assert.equal(typeof milliseconds, 'number');
    }
    const [list, get, rejected, unmatched, health, ready] = lines;
    assert.deepEqual([list.route, list.path], ['/campaigns', undefined]);
    for (const id of [list.workspaceId, list.keyId]) assert.match(id, /^[0-9a-f-]{36}$/);
    assert.deepEqual([get.route, get.path], ['/campaigns/{id}', path]);
    assert.equal(rejected.keyId, undefined);
    assert.deepEqual([unmatched.route, unmatched.path], [undefined, '/nothing']);
    assert.deepEqual([health.route, ready.route], ['/healthz', '/readyz']);
  },

  'has the member and the record of a write, also if the response is replayed': async () => {
    let ids: (string | undefined)[] = [];
    let memberId = '';
    const { lines } = await runAndReadLog({}, async (url) => {
      const send = async (method: string, path: string, body?: object): Promise<ApiResponse['json']> => {
        const headers = { ...KEY, 'Content-Type': 'application/json', 'Idempotency-Key': 'once' };
        const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
        return response.json();
      };
      memberId = (await send('GET', '/me')).member.id;
      const { id } = await send('POST', '/tags', { name: 'first' });
      await send('POST', '/tags', { name: 'first' });
      await send('PATCH', `/tags/${id}`, { name: 'second' });
      await send('GET', `/tags/${id}`);
      await send('DELETE', `/tags/${id}`);
      ids = [undefined, id, id, id, undefined, id];
    });
    assert.deepEqual(
      lines.map((line) => [line.memberId, line.recordId]),
      ids.map((id) => [memberId, id]),
    );
  },

  'contains no secret of a request at any level, except a secret in a path that returns 404': async () => {
    const check = async (level: string) => {
      let statuses: number[] = [];
      const settings = { LOG_LEVEL: level, REJECTED_CREDENTIALS_PER_MINUTE: '3' };
      const { lines, stderr } = await runAndReadLog(settings, async (url) => {
        statuses = await sendSecrets(url);
      });
      const missing = [200, 201, 400, 401, 404, 409, 422, 429].filter((status) => !statuses.includes(status));
      assert.deepEqual(missing, []);
      assert.equal(lines.length, level === 'trace' ? statuses.length : 0, level);
      assert.equal(stderr.includes(DEMO_API_KEY), false, level);
      // The path of a 404 is logged, because it shows what the client requested.
      const withoutPaths = lines.map(({ path, ...rest }) => JSON.stringify(rest).toLowerCase());
      const secrets = withoutPaths.filter((line) => line.includes(SECRET));
      assert.deepEqual(secrets, [], level);
      assert.ok(lines.every(({ path, status }) => path === undefined || status === 404));
    };
    // The level trace includes the lines of all other levels.
    await Promise.all(['trace', 'warn'].map(check));
  },

  'has the path of a 404: in visible ASCII, shortened, without the query, and without segments as long as a key':
    async () => {
      const key = `adv_${'Ab3'.repeat(12)}12`;
      const twoIds = `${UNKNOWN_ID}/${UNKNOWN_ID.toUpperCase()}`;
      const cases: readonly (readonly [target: string, path: string | undefined])[] = [
        ['/nothing/here?search=tents', '/nothing/here'],
        ['/nothing%0A%1B%5B31m', '/nothing%0A%1B%5B31m'],
        [`/${'a/'.repeat(300)}`, `/${'a/'.repeat(300)}`.slice(0, 200).concat('…')],
        [`/${key}/campaigns`, '/[redacted]/campaigns'],
        [`/campaigns/${key}`, '/campaigns/[redacted]'],
        [`/campaigns/${key.replace('_', '%5F')}`, '/campaigns/[redacted]'],
        [`/Bearer%20${DEMO_API_KEY}`, '/[redacted]'],
        [`/inspiration-questions/${twoIds}`, `/inspiration-questions/${twoIds}`],
        ['http://ada:hunter2@example.com/nothing?search=tents', '/nothing'],
      ];
      const { lines, stderr } = await runAndReadLog({}, async (url) => {
        const sendLine = async (line: string, status: number, headers = '') => {
          const [response] = await sendRaw(url, [`${line} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`], true);
          assert.equal(response?.status, status, line);
        };
        for (const [target] of cases) await sendLine(`GET ${target}`, 404, `Authorization: ${KEY.Authorization}\r\n`);
        for (const character of ['\x1b', '\x9b', '\xe9']) await sendLine(`GET /nothing${character}31m`, 400);
        await sendLine('CONNECT ada:hunter2@example.com:1', 404);
      });
      assert.deepEqual(
        lines.map(({ path }) => path),
        [...cases.map(([, path]) => path), ...Array(4).fill(undefined)],
      );
      for (const secret of [key, DEMO_API_KEY, 'hunter2', 'tents']) assert.ok(!stderr.includes(secret), secret);
    },
});

suite('the metrics', {
  'count requests by operation, method and status, in a number of series that callers cannot increase': () =>
    withService(
      async ({ metricsUrl, call }) => {
        await call('GET', '/campaigns');
        await call('GET', '/campaigns?page=0');
        await call('GET', '/campaigns/nonsense');
        await call('POST', '/tags', { body: { name: 'measured' } });
        await call('POST', '/tags', { body: { name: 'measured' } });
        for (const path of ['/a', '/b']) await call('GET', path, { key: null });
        await call('GET', '/healthz');
        await call('PROPFIND', '/campaigns', { key: null });
        await call('GET', '/campaigns', { key: 'wrong-wrong-wrong-wrong' });
        const text = await (await fetch(metricsUrl as string)).text();
        for (const [labels, count] of [
          ['route="/campaigns",method="GET",status="200"', 1],
          ['route="/campaigns",method="GET",status="422"', 1],
          ['route="/campaigns",method="GET",status="401"', 1],
          ['route="/campaigns/{id}",method="GET",status="404"', 1],
          ['route="/tags",method="POST",status="201"', 1],
          ['route="/tags",method="POST",status="409"', 1],
          ['route="unmatched",method="GET",status="404"', 2],
          ['route="/healthz",method="GET",status="200"', 1],
          ['route="unmatched",method="other",status="404"', 1],
        ]) {
          assert.ok(text.includes(`http_request_duration_seconds_count{${labels}} ${count}\n`), `${labels}\n${text}`);
        }
        for (const secret of [DEMO_API_KEY, 'wrong-wrong', 'measured']) assert.ok(!text.includes(secret), secret);
        assert.match(text, /^nodejs_eventloop_lag_p99_seconds /m);
      },
      { settings: { METRICS_PORT: '0' } },
    ),

  'are served at an address of their own, which serves nothing else': () =>
    withService(
      async ({ call, metricsUrl }) => {
        assert.equal((await call('GET', '/metrics')).status, 404);
        const { origin } = new URL(metricsUrl as string);
        for (const [method, path, status] of [
          ['GET', '/metrics?x=1', 200],
          ['HEAD', '/metrics', 200],
          ['POST', '/metrics', 404],
          ['GET', '/metrics/', 404],
          ['GET', '/campaigns', 404],
        ] as const) {
          assert.equal((await fetch(origin + path, { method })).status, status, `${method} ${path}`);
        }
      },
      { settings: { METRICS_PORT: '0' } },
    ),
});
