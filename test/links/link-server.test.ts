import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createLinkServer, UNKNOWN_LINK_LIMIT } from '../../adapters/links/link-server.ts';
import { createMemoryRateLimiter } from '../../adapters/memory/rate-limiter.ts';
import { createNodeSystem } from '../../adapters/node/system.ts';
import { Application } from '../../core/application.ts';
import type { CampaignChange } from '../../core/campaign/campaign.ts';
import type { DomainChange } from '../../core/domain/domain.ts';
import { NOON, SECOND, testCore } from '../support/core.ts';
import { each } from '../support/each.ts';
import { type LoadResponse, send } from '../support/load.ts';
import { parseDates, type WithDateTexts } from '../support/parse-dates.ts';
import { sendRaw } from '../support/raw-requests.ts';
import { suite, type Test } from '../support/suite.ts';
import { createCampaignFields, createWorkspace } from '../support/tenants.ts';

/**
 * A verified domain with an `expiredUrl` and a `notFoundUrl`, a verified domain without them, and the host of the base
 * URL.
 */
const FULL = 'go.northwind.example';
const PLAIN = 'links.northwind.example';
const BASE = 'base.example';
const DESTINATION = 'https://northwind.example/spring';
const EXPIRED = 'https://northwind.example/expired';
const NOT_FOUND = 'https://northwind.example/not-found';
const UNKNOWN_KEY = 'unknown0';
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

/** A change of a campaign, with dates as texts. */
type CampaignChangeTexts = WithDateTexts<CampaignChange>;

interface Request {
  readonly path: string;
  readonly host?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Setup {
  readonly clock: { now: number };
  /** While `isActive` is `true`, the storage of links, campaigns and domains fails. */
  readonly outage: { isActive: boolean };
  readonly port: number;
  readonly app: Application;
  /** Sends a request, by default as a browser, and checks the headers that every response has. */
  request(request: Request): Promise<LoadResponse>;
  /** Adds a verified domain. */
  addDomain(slug: string, urls?: DomainChange): Promise<void>;
  /** Shares a new campaign, then changes the campaign. Returns the path of the link. */
  share(domain: string | null, change?: CampaignChangeTexts): Promise<string>;
  /** Stores all clicks. Returns the clicks of the last shared campaign and of its share. */
  readClicks(): Promise<readonly number[]>;
  /** Changes the last shared campaign. */
  change(change: CampaignChange): Promise<unknown>;
  changeDomain(slug: string, change: { archived: boolean }): Promise<unknown>;
}

const withLinks =
  (test: (setup: Setup) => Promise<void>, trustProxy: boolean | number | string = false): Test =>
  async () => {
    const { storage, clock } = testCore();
    const outage = { isActive: false };
    const unlessOutage = <Result>(result: Promise<Result>): Promise<Result> =>
      outage.isActive ? Promise.reject(new Error('The storage is unavailable.')) : result;
    const unreliable = {
      ...storage,
      links: { ...storage.links, findByKey: (key: string) => unlessOutage(storage.links.findByKey(key)) },
      campaigns: {
        ...storage.campaigns,
        findById: (workspaceId: string, id: string) => unlessOutage(storage.campaigns.findById(workspaceId, id)),
      },
      verifiedSlugs: {
        ...storage.verifiedSlugs,
        find: (slug: string) => unlessOutage(storage.verifiedSlugs.find(slug)),
      },
    };
    const now = () => clock.now;
    const system = { ...createNodeSystem(), now };
    const app = new Application(unreliable, system, { links: { baseUrl: `https://${BASE}` } });
    const { workspaceId, admin: member } = await createWorkspace(app);
    const actor = { workspaceId, member };
    const domainIds: Record<string, string> = {};
    const addDomain = async (slug: string, urls: DomainChange = {}): Promise<void> => {
      const { domain } = await app.domains.createOrArchive(workspaceId, { slug });
      await app.domains.update(workspaceId, domain.id, urls);
      await app.domains.markVerified(workspaceId, domain.id);
      domainIds[slug] = domain.id;
    };
    await addDomain(FULL, { expiredUrl: EXPIRED, notFoundUrl: NOT_FOUND });
    await addDomain(PLAIN);
    const { count, windowSeconds } = UNKNOWN_LINK_LIMIT;
    const services = {
      links: app.links,
      shares: app.shares,
      unknownLinkLimiter: createMemoryRateLimiter(count, windowSeconds),
      addSharedVisit: undefined,
    };
    const links = createLinkServer(services, { baseUrl: `https://${BASE}`, trustProxy }, []);
    links.server.listen(0, '127.0.0.1');
    await once(links.server, 'listening');
    const { port } = links.server.address() as AddressInfo;
    let campaignId = '';
    const { now: performanceNow } = performance;
    performance.now = now;
    try {
      await test({
        clock,
        outage,
        port,
        app,
        addDomain,
        async request({ path, host = BASE, method = 'GET', headers }) {
          const allHeaders = { Host: host, 'User-Agent': BROWSER, ...headers };
          const response = await send(`http://127.0.0.1:${port}`, { path, method, headers: allHeaders });
          assertHeaders(response.headers, `${method} ${path}`);
          if (method === 'HEAD') assert.equal(response.text, '');
          else assert.ok(!response.text.includes(host), 'reflects no host');
          return response;
        },
        async share(domain, change = {}) {
          const fields = {
            ...createCampaignFields(),
            domain,
            destinationUrl: DESTINATION,
            ...parseDates({ startDate: '2026-01-01', endDate: '2026-02-28' }),
          };
          const campaign = await app.campaigns.create(actor, fields);
          campaignId = campaign.id;
          const { share } = await app.shares.create(actor, campaignId);
          await app.campaigns.update(actor, campaignId, parseDates(change));
          return new URL(share.link as string).pathname;
        },
        async readClicks() {
          await links.clicks.flush();
          const page = { page: 1, pageSize: 1, sortBy: 'createdAt', sortOrder: 'asc' } as const;
          const [share] = (await app.shares.list(workspaceId, campaignId, page)).items;
          return [(await app.campaigns.get(actor, campaignId)).clicks, share?.clicks ?? -1];
        },
        change: (change) => app.campaigns.update(actor, campaignId, change),
        changeDomain: (slug, change) => app.domains.update(workspaceId, domainIds[slug] as string, change),
      });
    } finally {
      performance.now = performanceNow;
      links.closeAll();
      await links.stop();
    }
  };

function assertHeaders(headers: LoadResponse['headers'], message: string): void {
  const { 'cache-control': cache, 'x-robots-tag': robots, 'referrer-policy': referrer } = headers;
  const actual = [cache, robots, referrer, headers['x-content-type-options']];
  assert.deepEqual(actual, ['no-store', 'noindex', 'no-referrer', 'nosniff'], message);
}

const at = (milliseconds: number): string => new Date(NOON + milliseconds).toISOString();

/** The domain of a campaign, a change of the campaign, the host of a request for its link, and the response. */
const linkCases: Record<
  string,
  { domain: string | null; change?: CampaignChangeTexts; host?: string; location?: string; status?: number }
> = {
  'open on its domain': { domain: FULL, host: FULL, location: DESTINATION },
  'open on a domain without URLs': { domain: PLAIN, host: PLAIN, location: DESTINATION },
  'open on the base': { domain: null, location: DESTINATION },
  'open on the base, although it has a domain': { domain: FULL, location: DESTINATION },
  'started just now': { domain: FULL, host: FULL, change: { startDate: at(0) }, location: DESTINATION },
  'starts in a millisecond': { domain: FULL, host: FULL, change: { startDate: at(1) }, location: NOT_FOUND },
  'ends just now': { domain: FULL, host: FULL, change: { endDate: at(0) }, location: DESTINATION },
  'ended a millisecond ago': { domain: FULL, host: FULL, change: { endDate: at(-1) }, location: EXPIRED },
  'ended, on a domain without URLs': { domain: PLAIN, host: PLAIN, change: { endDate: at(-1) }, status: 410 },
  'ended, without a domain': { domain: null, change: { endDate: at(-1) }, status: 410 },
  'ended, on the base': { domain: FULL, change: { endDate: at(-1) }, location: EXPIRED },
  archived: { domain: FULL, host: FULL, change: { status: 'archived' }, location: EXPIRED },
  'without destination': { domain: FULL, host: FULL, change: { destinationUrl: null }, location: EXPIRED },
  'archived before its start': {
    domain: FULL,
    host: FULL,
    change: { status: 'archived', startDate: at(1) },
    location: EXPIRED,
  },
  'not started, on a domain without URLs': { domain: PLAIN, host: PLAIN, change: { startDate: at(1) }, status: 404 },
  'not started, on the base': { domain: FULL, change: { startDate: at(1) }, status: 404 },
  'on another domain of the workspace': { domain: PLAIN, host: FULL, location: NOT_FOUND },
  'without a domain, on a domain': { domain: null, host: FULL, location: NOT_FOUND },
  'ended, on another domain': { domain: PLAIN, host: FULL, change: { endDate: at(-1) }, location: NOT_FOUND },
  'on a foreign host': { domain: FULL, host: 'foreign.example', status: 404 },
};

/** URLs on hosts that the server serves. `SELF` is the requested host. */
const ownUrls = {
  'the requested host': 'https://SELF/a',
  'the requested host with a port': 'http://SELF:8080/',
  'the requested host with a dot': 'https://SELF./',
  'the requested host in upper case': 'https://LINKS.northwind.EXAMPLE',
  'another verified domain': `https://${FULL}/${UNKNOWN_KEY}`,
  'the base': `https://${BASE}?a`,
};

/** URLs that the storage may have, and their URIs (RFC 3986). */
const uris = {
  'https://x.example/|{}"<>^`\\?|{}"<>^`': 'https://x.example/%7C%7B%7D%22%3C%3E%5E%60%5C?%7C%7B%7D%22%3C%3E%5E%60',
  'https://x.example/100%?%zz&%41#a#b': 'https://x.example/100%25?%25zz&%41#a%23b',
  'https://bücher.example/ü?ü#ü': 'https://xn--bcher-kva.example/%C3%BC?%C3%BC#%C3%BC',
};

/** Requests that are for no link, and their responses. */
const otherCases: readonly (readonly [path: string, host: string, expected: string | number])[] = [
  [`/${UNKNOWN_KEY}`, FULL, NOT_FOUND],
  [`/${UNKNOWN_KEY}`, PLAIN, 404],
  [`/${UNKNOWN_KEY}`, BASE, 404],
  [`/${UNKNOWN_KEY}`, 'foreign.example', 404],
  ['/', FULL, NOT_FOUND],
  ['/a/b', FULL, NOT_FOUND],
  ['/a/b', BASE, 404],
  ['/campaigns', BASE, 404],
  ['/healthz', BASE, 404],
  ['/openapi.json', BASE, 404],
];

suite('a request for a short link', {
  'gets a response that depends on the state of its campaign and on its host': withLinks(async ({ request, share }) => {
    await each(linkCases, async ({ domain, change, host, location, status = 302 }) => {
      const path = await share(domain, change);
      for (const method of ['GET', 'HEAD']) {
        const response = await request({ path, host: host ?? BASE, method });
        assert.deepEqual([response.status, response.headers.location], [status, location], method);
      }
    });
  }),

  'leads to the `notFoundUrl` of the domain, or gets 404, if its path or host is unknown': withLinks(
    async ({ request }) => {
      for (const [path, host, expected] of otherCases) {
        const { status, headers } = await request({ path, host });
        assert.equal(headers.location ?? status, expected, `${host}${path}`);
      }
    },
  ),

  'must have a path that is exactly the key': withLinks(async ({ request, share }) => {
    const path = await share(FULL);
    for (const other of [`${path}/`, `/${path}`, `${path}0`, path.slice(0, -1), `${path}%20`])
      assert.equal((await request({ path: other, host: FULL })).headers.location, NOT_FOUND, other);
    assert.equal((await request({ path: `${path}?utm=a%20b`, host: FULL })).headers.location, DESTINATION);
  }),

  'ignores the port, the case and a trailing dot of its host': withLinks(async ({ request, share }) => {
    const path = await share(FULL);
    for (const host of [`${FULL}:8443`, FULL.toUpperCase(), `${FULL}.`, `${FULL}.:8443`])
      assert.equal((await request({ path, host })).headers.location, DESTINATION, host);
    for (const host of [`${FULL}..`, `.${FULL}`, `${FULL}。.`, `${BASE}..`])
      assert.equal((await request({ path, host: Buffer.from(host).toString('latin1') })).status, 404, host);
    assert.equal((await request({ path, host: `${BASE.toUpperCase()}.:8443` })).headers.location, DESTINATION);
  }),

  'can have an internationalized host, in ASCII or in UTF-8': withLinks(async ({ share, port, addDomain }) => {
    await addDomain('xn--voil-3na2o.example');
    const path = await share('xn--voil-3na2o.example');
    for (const host of ['xn--voil-3na2o.example', 'XN--VOIL-3NA2O.example', 'voilàü.example', 'VOILÀÜ.example:80']) {
      const lines = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      const [response] = await sendRaw(`http://127.0.0.1:${port}`, [lines], false);
      assert.equal(response?.headers.get('location'), DESTINATION, host);
    }
  }),

  'is not redirected to a host that this server serves': withLinks(async ({ request, share, addDomain }) => {
    await each(ownUrls, async (url, name) => {
      const slug = `${name.replaceAll(' ', '-')}.example`;
      await addDomain(slug, { expiredUrl: url.replace('SELF', slug), notFoundUrl: url.replace('SELF', slug) });
      const destination = { destinationUrl: url.replace('SELF', slug) };
      const [open, expired] = [await share(slug, destination), await share(slug, { status: 'archived' })];
      const responses = [
        await request({ path: open, host: slug }),
        await request({ path: expired, host: slug }),
        await request({ path: `/${UNKNOWN_KEY}`, host: slug }),
      ];
      assert.deepEqual(
        responses.map(({ status, headers }) => [status, headers.location]),
        [404, 410, 404].map((status) => [status, undefined]),
      );
    });
  }),

  'is redirected to a URI, whatever characters the stored URL has': withLinks(async ({ request, share, change }) => {
    const path = await share(null);
    await each(uris, async (uri, destinationUrl) => {
      await change({ destinationUrl });
      const { headers } = await request({ path: await share(null, { destinationUrl }) });
      assert.equal(headers.location, uri);
    });
    assert.equal((await request({ path })).status, 302);
  }),

  'is rejected with 405 for a method other than GET and HEAD, and with 400 for a missing or malformed host': withLinks(
    async ({ request, share, port }) => {
      const path = await share(FULL);
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']) {
        const { status, headers } = await request({ path, method, host: FULL });
        assert.deepEqual([status, headers.allow], [405, 'GET, HEAD'], method);
      }
      const tunnel = `CONNECT ${FULL}:443 HTTP/1.1\r\nHost: ${FULL}:443\r\n\r\n`;
      const [rejected] = await sendRaw(`http://127.0.0.1:${port}`, [tunnel], false);
      assert.deepEqual([rejected?.status, rejected?.headers.get('allow')], [405, 'GET, HEAD']);
      assertHeaders(Object.fromEntries(rejected?.headers ?? []), 'CONNECT');
      for (const lines of ['', 'Host: a b\r\n', 'Host: a\r\nHost: b\r\n']) {
        const [response] = await sendRaw(
          `http://127.0.0.1:${port}`,
          [`GET ${path} HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`],
          false,
        );
        assert.equal(response?.status, 400, lines);
        assertHeaders(Object.fromEntries(response?.headers ?? []), lines);
      }
    },
  ),

  'is the last one of its connection if it has a body, asks for an upgrade or is malformed': withLinks(
    async ({ port }) => {
      const next = `GET / HTTP/1.1\r\nHost: ${BASE}\r\nConnection: close\r\n\r\n`;
      for (const end of [
        'Content-Length: 1\r\n\r\nx',
        'Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n',
        'Connection: upgrade\r\nUpgrade: h2c\r\n\r\n',
        'Host: b\r\n\r\n',
      ]) {
        const first = `GET / HTTP/1.1\r\nHost: ${BASE}\r\n${end}`;
        const responses = await sendRaw(`http://127.0.0.1:${port}`, [first + next], false);
        assert.equal(responses.length, 1, end);
      }
    },
  ),

  'takes its host from an absolute URL in the request line instead of `Host`': withLinks(async ({ share, port }) => {
    const path = await share(FULL);
    const lines = `GET http://${FULL}${path} HTTP/1.1\r\nHost: foreign.example\r\nConnection: close\r\n\r\n`;
    const [response] = await sendRaw(`http://127.0.0.1:${port}`, [lines], false);
    assert.equal(response?.headers.get('location'), DESTINATION);
  }),

  'is rejected after more than 60 requests for unknown links from its address, even if it is for a known link':
    withLinks(async ({ request, share }) => {
      const path = await share(null);
      // A path that cannot be a guessed key does not count.
      for (let i = 0; i < 70; i++) assert.equal((await request({ path: '/favicon.ico' })).status, 404);
      for (let i = 0; i < 60; i++) {
        const { status } = await request({ path: `/${UNKNOWN_KEY}` });
        assert.equal(status, 404, `request ${i + 1}`);
      }
      assert.equal((await request({ path })).status, 302);
      for (const limited of [`/${UNKNOWN_KEY}`, path]) {
        const { status, headers } = await request({ path: limited });
        assert.equal(status, 429, limited);
        assert.ok(Number(headers['retry-after']) >= 1 && Number(headers['retry-after']) <= 60);
      }
    }),

  'counts toward the limit of the client address that a trusted proxy adds to X-Forwarded-For': withLinks(
    async ({ request }) => {
      const from = (address: string) => request({ path: `/${UNKNOWN_KEY}`, headers: { 'X-Forwarded-For': address } });
      for (let i = 0; i < 60; i++) await from(`192.0.2.9, 198.51.100.1`);
      assert.equal((await from('203.0.113.5, 198.51.100.1')).status, 429);
      assert.equal((await from('203.0.113.5:50001, 198.51.100.1:50002')).status, 429);
      assert.equal((await from('198.51.100.1, 198.51.100.2:443')).status, 404);
    },
    1,
  ),

  'sees a change of its campaign or domain within five seconds': withLinks(async (setup) => {
    const { request, share, change, changeDomain, clock } = setup;
    const path = await share(FULL);
    const locate = async () => (await request({ path, host: FULL })).headers.location;
    assert.equal(await locate(), DESTINATION);
    await change({ destinationUrl: 'https://northwind.example/summer' });
    clock.now += 5 * SECOND;
    assert.equal(await locate(), 'https://northwind.example/summer');
    await changeDomain(FULL, { archived: true });
    clock.now += 5 * SECOND;
    assert.equal(await locate(), undefined);
  }),

  'gets 503 if the storage fails, unless the link was resolved in the last five seconds': withLinks(async (setup) => {
    const { request, share, outage, clock } = setup;
    const [known, other] = [await share(FULL), await share(FULL)];
    await request({ path: known, host: FULL });
    outage.isActive = true;
    clock.now += 5 * SECOND - 1;
    assert.equal((await request({ path: known, host: FULL })).headers.location, DESTINATION);
    for (const path of [other, `/${UNKNOWN_KEY}`]) {
      const { status, headers } = await request({ path, host: FULL });
      assert.deepEqual([status, headers['retry-after'], headers.location], [503, '1', undefined], path);
    }
    clock.now += 1;
    assert.equal((await request({ path: known, host: FULL })).status, 503);
    outage.isActive = false;
    assert.equal((await request({ path: known, host: FULL })).headers.location, DESTINATION);
  }),
});

/** Sequences of requests for one link, and the number of clicks that they count as. */
const clickCases: Record<string, { requests: readonly Omit<Request, 'path'>[]; count: number }> = {
  'a visit': { requests: [{}], count: 1 },
  'a second visit': { requests: [{}, {}], count: 1 },
  'a visit with another browser': {
    requests: [{}, { headers: { 'User-Agent': 'Mozilla/5.0 Firefox/141.0' } }],
    count: 2,
  },
  HEAD: { requests: [{ method: 'HEAD' }], count: 0 },
  'a visit after HEAD': { requests: [{ method: 'HEAD' }, {}], count: 1 },
  'no user agent': { requests: [{ headers: { 'User-Agent': '' } }], count: 0 },
  'a crawler': { requests: [{ headers: { 'User-Agent': 'Mozilla/5.0 (compatible; Googlebot/2.1)' } }], count: 0 },
  'Purpose: prefetch': { requests: [{ headers: { Purpose: 'prefetch' } }], count: 0 },
  'Sec-Purpose: prefetch;prerender': { requests: [{ headers: { 'Sec-Purpose': 'prefetch;prerender' } }], count: 0 },
  'a preview': {
    requests: ['Purpose', 'X-Purpose', 'X-Moz', 'Sec-Purpose'].flatMap((name) =>
      ['preview', 'Prefetch', 'PREVIEW; x', 'prefetch-a'].map((value) => ({ headers: { [name]: value } })),
    ),
    count: 0,
  },
  'another purpose': { requests: [{ headers: { Purpose: 'x-prefetch', 'X-Moz': 'no preview' } }], count: 1 },
  'a visit after a prefetch': { requests: [{ headers: { 'Sec-Purpose': 'prefetch' } }, {}], count: 1 },
  'a foreign host': { requests: [{ host: 'foreign.example' }], count: 0 },
};

suite('a click', {
  'counts once per visitor, and only if a GET by a person leads to the destination': withLinks(async (setup) => {
    const { request, share, readClicks } = setup;
    await each(clickCases, async ({ requests, count }) => {
      const path = await share(null);
      for (const one of requests) await request({ path, ...one });
      await readClicks();
      assert.deepEqual(await readClicks(), [count, count]);
    });
  }),

  'is not counted if the request gets a page, because the destination is a host of the server': withLinks(
    async ({ request, share, readClicks }) => {
      const path = await share(null, { destinationUrl: `https://${PLAIN}/` });
      assert.equal((await request({ path })).status, 404);
      assert.deepEqual(await readClicks(), [0, 0]);
    },
  ),

  'is not counted if the campaign of the link has ended': withLinks(async ({ request, share, readClicks }) => {
    const path = await share(FULL, { endDate: at(-1) });
    await request({ path, host: FULL });
    assert.deepEqual(await readClicks(), [0, 0]);
  }),

  'counts once per address, of which the port is no part': withLinks(async ({ request, share, readClicks }) => {
    const path = await share(null);
    for (const address of [
      '203.0.113.7:50001',
      '203.0.113.8',
      '203.0.113.7:50002',
      '[2001:db8::1]:443',
      '[2001:db8::1]',
    ])
      await request({ path, headers: { 'X-Forwarded-For': address } });
    await readClicks();
    assert.deepEqual(await readClicks(), [3, 3]);
  }, 1),

  'counts for each link that a visitor follows': withLinks(async ({ request, share, readClicks }) => {
    await request({ path: await share(null) });
    await request({ path: await share(null) });
    assert.deepEqual(await readClicks(), [1, 1]);
  }),
});
