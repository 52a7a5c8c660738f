import assert from 'node:assert/strict';
import { each } from '../support/each.ts';
import { callRaw, type RawRequest } from '../support/raw-requests.ts';
import { type Api, DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';

/**
 * The lengths of a header or target that just fits into the limit of 16 KiB, and of a body that just fits into its
 * limit.
 */
const HEADER_LENGTH = 15_000;
const BODY_LENGTH = 2 ** 20 - 1_000;
/**
 * The maximum time of the fastest of several responses. Usually, it is a tenth. If the time were quadratic in the
 * length of a header, it would be several times as long as the maximum.
 */
const MAX_MS = { header: 60, body: 150 };
const MAX_TRY_COUNT = 10;

/** Repeats a text up to the length of a header. */
const fill = (text: string) => text.repeat(HEADER_LENGTH / text.length);
/** Repeats a text up to the length of a body. */
const fillBody = (text: string) => text.repeat(BODY_LENGTH / Buffer.byteLength(text));
const fillWithNumbers = (format: (number: number) => string, length: number) => {
  let text = '';
  for (let number = 0; text.length < length; number++) text += format(number);
  return text;
};

const targets = {
  'a query of percent signs': `/x?${fill('%?')}`,
  'a query of percent signs and ampersands': `/campaigns?${fill('%&')}`,
  'many empty parameters': `/campaigns?${fill('a&')}`,
  'many parameters': `/campaigns?${fillWithNumbers((number) => `p${number}=1&`, HEADER_LENGTH)}`,
  'one repeated parameter': `/campaigns?${fill('page=1&')}`,
  'many list items': `/campaigns?tagNames=${fillWithNumbers((number) => `${number},`, HEADER_LENGTH)}`,
  'many list items in one parameter each': `/campaigns?${fill('tagIds=,&')}`,
  'a long search': `/campaigns?search=${fill('a%20')}`,
  'a long page': `/campaigns?page=${fill('1')}`,
  'a long domain': `/campaigns?domain=${fillWithNumbers((number) => encodeURIComponent(String.fromCharCode(0x4e00 + number)), HEADER_LENGTH)}`,
  'a path of slashes': fill('/'),
  'a path of segments': fill('/a'),
  'a path of percent signs': fill('/%'),
  'a long id': `/campaigns/${fill('a')}`,
  'a long id with a slash': `/campaigns/${fill('%2F')}/`,
  'a long host': `http://${fillWithNumbers((number) => encodeURIComponent(String.fromCharCode(0x4e00 + number)), HEADER_LENGTH)}/`,
  'a host of points': `http://${fill('a.')}/`,
  'a long scheme': `${fill('a')}://a/`,
};

const headers = {
  'a key of spaces': ['Authorization', `Bearer ${fill(' ')}!`],
  'a key of equals signs': ['Authorization', `Bearer ${fill('a=')}!`],
  'a long key': ['Authorization', `Bearer ${fill('a')}!`],
  'a content type of spaces': ['Content-Type', `application/json${fill(' ')}!`],
  'a content type of spaces after a semicolon': ['Content-Type', `application/json;${fill(' ')}!`],
  'a content type of parameters': ['Content-Type', `application/json${fill(';a=b')}`],
  'a content type of charsets': ['Content-Type', `application/json${fill('; charset ')}`],
  'a content type of quotes': ['Content-Type', `application/json;a="${fill('\\"')}`],
  'a long content encoding': ['Content-Encoding', fill('identity,')],
  'a long idempotency key': ['Idempotency-Key', fill('a')],
  'a long trace': ['traceparent', fill('00-')],
  'many addresses': ['X-Forwarded-For', fill('1.1.1.1, ')],
  'many commas': ['X-Forwarded-For', fill(',')],
  'a long host': ['Host', fill('a.')],
  'a long expectation': ['Expect', fill('100-continue,')],
  'a long cookie': ['Cookie', fill('a=b;')],
} as const;

const bodies = {
  'deep arrays': `{"tagIds":${fillBody('[')}`,
  'many names': `{${fillWithNumbers((number) => `"${number}":0,`, BODY_LENGTH)}"name":"a"}`,
  'one repeated name': `{${fillBody('"name":0,')}"name":0}`,
  'many equal items and another one': `{"tagIds":[${fillBody('0,')}1]}`,
  'many empty items and another one': `{"tagIds":[${fillBody('"",')}"a"]}`,
  'many items': `{"tagIds":[${fillWithNumbers((number) => `${number},`, BODY_LENGTH)}0]}`,
  'many resources': `{"resources":[${fillBody('0,')}0]}`,
  'a long name': `{"name":"${fillBody('a')}"}`,
  'a name of spaces': `{"name":"${fillBody(' ')}a"}`,
  'a name of spaces inside': `{"name":"a${fillBody(' ')}a"}`,
  'a name of escapes': `{"name":"${fillBody('\\ud83d\\ude00')}"}`,
  'a name of combining characters': `{"name":"a${fillBody('\u0323\u0307')}"}`,
  'a name of backslashes': `{"name":"${fillBody('\\\\')}"}`,
  'a long number': `{"totalBudget":${fillBody('9')}}`,
  'a long amount': `{"totalBudget":"${fillBody('9')}"}`,
  'a long date': `{"startDate":"2026-01-01T00:00:00.${fillBody('1')}"}`,
  'a long domain': `{"domain":"${fillBody('你')}.example"}`,
  'a domain of points': `{"domain":"${fillBody('a.')}"}`,
  'a long URL': `{"destinationUrl":"https://${fillBody('你')}/"}`,
  'a URL of slashes': `{"image":"https:${fillBody('/')}"}`,
  'white space': `{"name":${fillBody(' ')}}`,
};

/** Requests the service several times, and fails if even the fastest response takes too long. */
async function assertFast(api: Api, request: RawRequest, maxMs: number): Promise<void> {
  let fastestMs = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 3 || (fastestMs > maxMs && tries < MAX_TRY_COUNT); tries++) {
    const start = performance.now();
    const { status } = await callRaw(api, request);
    fastestMs = Math.min(fastestMs, performance.now() - start);
    assert.ok(status >= 200 && status < 500, `${status}`);
  }
  assert.ok(fastestMs <= maxMs, `${fastestMs} ms`);
}

const post = { method: 'POST', target: '/campaigns', key: DEMO_API_KEY } as const;
const JSON_TYPE = ['Content-Type', 'application/json'] as const;

suite('a request takes time that is linear in its length', {
  'if its target is hostile, with or without a key': () =>
    withService((api) =>
      each(targets, async (target) => {
        for (const key of [undefined, DEMO_API_KEY])
          await assertFast(api, { method: 'GET', target, key }, MAX_MS.header);
      }),
    ),

  'if a header is hostile': () =>
    withService(
      (api) =>
        each(headers, async ([name, value]) => {
          const key = name === 'Authorization' ? undefined : name === 'X-Forwarded-For' ? 'unknown' : DEMO_API_KEY;
          await assertFast(api, { ...post, key, headers: [[name, value]], body: '{}' }, MAX_MS.header);
        }),
      { settings: { TRUST_PROXY: 'true' } },
    ),

  'if its body is hostile': () =>
    withService((api) => each(bodies, (body) => assertFast(api, { ...post, headers: [JSON_TYPE], body }, MAX_MS.body))),
});
