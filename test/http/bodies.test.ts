import assert from 'node:assert/strict';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { createCampaign } from '../../adapters/api/campaign.ts';
import { each, texts } from '../support/each.ts';
import { assertFaults, assertRefused, faultsOf } from '../support/expected-responses.ts';
import { callOf, fieldsOf, successOf, typesOf, whileRefused, withBody, withoutBody } from '../support/operations.ts';
import { callRaw, chunked, type RawRequest } from '../support/raw.ts';
import { withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { campaignBody, createTenant, NEVER } from '../support/tenants.ts';

const LIMIT = 2 ** 20;

type Sent = Pick<RawRequest, 'headers' | 'body'>;

const JSON_TYPE = ['Content-Type', 'application/json'] as const;
const CHUNKED = ['Transfer-Encoding', 'chunked'] as const;

const as = (type: string) => (body: string) => ({ headers: [['Content-Type', type]] as const, body });
const encoded = (encoding: string, encode: (body: string) => string | Uint8Array) => (body: string) => ({
  headers: [JSON_TYPE, ['Content-Encoding', encoding]] as const,
  body: encode(body),
});
const instead = (other: string | undefined) => () => ({ headers: [JSON_TYPE], body: other });
const made = (make: (body: string) => string | Uint8Array) => (body: string) => ({
  headers: [JSON_TYPE],
  body: make(body),
});
/** The body with bytes at the beginning of its first text. */
const withBytes = (...bytes: number[]) =>
  made((body) => {
    const at = body.indexOf('":"') + 3;
    return Buffer.concat([Buffer.from(body.slice(0, at)), Buffer.from(bytes), Buffer.from(body.slice(at))]);
  });
/** The body with spaces after it, up to a size. */
const filled = (body: string, size: number) => body + ' '.repeat(size - body.length);

/** What is made of a good body so that it cannot be read. */
const unreadable: Readonly<Record<string, (body: string) => Sent>> = {
  'no body': instead(undefined),
  'an empty body': instead(''),
  'a body in no chunk': () => ({ headers: [JSON_TYPE, CHUNKED], body: chunked('') }),
  spaces: instead(' \n '),
  'an array': made((body) => `[${body}]`),
  'an empty array': instead('[]'),
  'a text': made((body) => JSON.stringify(body)),
  'a number': instead('1'),
  true: instead('true'),
  null: instead('null'),
  'an open object': made((body) => body.slice(0, -1)),
  'more after the object': made((body) => `${body}{}`),
  'a comma at the end': made((body) => `${body.slice(0, -1)},}`),
  'single quotes': made((body) => body.replaceAll('"', "'")),
  'names without quotes': made((body) => body.replace(/"(\w+)"/, '$1')),
  'a comment': made((body) => `${body}// JSON`),
  NaN: made((body) => `${body.slice(0, -1)},"n":NaN}`),
  'a control character in a text': withBytes(0x0a),
  'a form': made((body) => new URLSearchParams(JSON.parse(body)).toString()),

  'no content type': (body) => ({ body }),
  'an empty content type': as(''),
  'plain text': as('text/plain'),
  'the type of a form': as('application/x-www-form-urlencoded'),
  'the type of JSON texts of old': as('text/json'),
  'another type of JSON': as('application/merge-patch+json'),
  'a longer type': as('application/jsonl'),
  'half a type': as('app'),
  'two types': as('application/json, application/json'),
  'any type': as('*/*'),
  'another charset': as('application/json; charset=iso-8859-1'),
  'UTF-16': as('application/json; charset=utf-16le'),
  'no charset': as('application/json; charset=""'),
  'an empty charset': as('application/json; charset='),
  'two charsets': as('application/json; charset=utf-8; charset=latin1'),
  'another name of UTF-8': as('application/json; charset=utf8'),

  'a byte-order mark': made((body) => `\ufeff${body}`),
  'two bytes for each character': made((body) => Buffer.from(body, 'utf16le')),
  'a byte that is not UTF-8': withBytes(0xff),
  'a character without its end': withBytes(0xc3),
  'a character longer than it needs': withBytes(0xc0, 0xaf),
  'a surrogate in bytes': withBytes(0xed, 0xa0, 0x80),
  'a character above all': withBytes(0xf4, 0x90, 0x80, 0x80),

  gzip: encoded('gzip', gzipSync),
  deflate: encoded('deflate', deflateSync),
  brotli: encoded('br', brotliCompressSync),
  'an unknown encoding': encoded('rot13', String),
  'an encoding that it does not have': encoded('gzip', String),
  'identity and another': encoded('identity, gzip', gzipSync),

  'a byte too much': made((body) => filled(body, LIMIT + 1)),
  'a byte too much in chunks': (body) => ({ headers: [JSON_TYPE, CHUNKED], body: chunked(filled(body, LIMIT + 1)) }),
};

/** What may be made of a good body. */
const readable: Readonly<Record<string, (body: string) => Sent>> = {
  'a charset': as('application/json; charset=utf-8'),
  'a type in capitals': as('Application/JSON;charset="UTF-8"'),
  'another parameter': as('application/json; profile=x'),
  'no encoding': encoded('identity', String),
  'no encoding, in capitals': encoded('Identity', String),
  'white space around': made((body) => `\r\n\t ${body}\n`),
  chunks: (body) => ({ headers: [JSON_TYPE, CHUNKED], body: chunked(body, 3) }),
  'all bytes that are allowed': made((body) => filled(body, LIMIT)),
  'all bytes in chunks': (body) => ({ headers: [JSON_TYPE, CHUNKED], body: chunked(filled(body, LIMIT)) }),
};

/** The body as JSON in which a field has a value that is written as it stands. */
function withValue(body: string, field: string, value: string): string {
  const { [field]: _, ...others } = JSON.parse(body);
  return JSON.stringify(others)
    .replace(/}$/, () => `,"${field}":${value}}`)
    .replace('{,', '{');
}

const DEEP = 100_000;
const deepArray = '['.repeat(DEEP) + ']'.repeat(DEEP);
const deepObject = `${'{"a":'.repeat(DEEP)}1${'}'.repeat(DEEP)}`;

/** An array of nearly as many bytes as a body may have. */
function longArray(item: (at: number) => unknown): string {
  const items: string[] = [];
  for (let length = 0, at = 0; length < LIMIT - 3000; at++) {
    const text = JSON.stringify(item(at));
    items.push(text);
    length += text.length + 1;
  }
  return `[${items.join()}]`;
}

const longArrays: Readonly<Record<string, string>> = {
  'of one id': longArray(() => NEVER),
  'of many ids': longArray((at) => `${NEVER.slice(0, -6)}${at.toString(16).padStart(6, '0')}`),
  'of short texts': longArray(() => ''),
  'of many texts': longArray((at) => `text ${at}`),
  'of numbers': longArray(() => 1),
  'of many numbers': longArray((at) => at),
  'of nothings': longArray(() => null),
  'of objects': longArray(() => ({})),
  'of arrays': longArray(() => []),
  'of a deep value': `[${deepObject}]`,
};

const NAMES_OF_OBJECTS = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__'];

suite('a body', {
  'is refused when it cannot be read as a JSON object': () =>
    withService((api) =>
      each(withBody, (operation) =>
        whileRefused(api, operation, (ask, body) =>
          each(unreadable, async (make) => assertRefused(await ask({ headers: [], ...make(body) }), 400)),
        ),
      ),
    ),

  'is read in each of its forms': () =>
    withService((api) =>
      each(withBody, (operation) =>
        each(readable, async (make) => {
          const tenant = await createTenant(api, 'tenant');
          const { path: target, body } = callOf(operation, tenant);
          const sent = make(JSON.stringify(body));
          const { status, text } = await callRaw(api, { method: operation.method, target, key: tenant.key, ...sent });
          assert.equal(status, successOf(operation), text);
        }),
      ),
    ),

  'is as large as the operator allows': () =>
    withService(
      async (api) => {
        const body = (size: number) => '{"name":"a tag"}'.padEnd(size);
        assertRefused(await api.call('POST', '/tags', { body: body(101) }), 400, /at most 100 bytes/);
        assert.equal((await api.call('POST', '/tags', { body: body(100) })).status, 201);
      },
      { settings: { BODY_LIMIT_BYTES: '100' } },
    ),

  'has of a name that is given twice the last value': () =>
    withService(async (api) => {
      const { status, json } = await api.call('POST', '/tags', { body: '{"name":1,"name":"first","name":"last"}' });
      assert.equal(status, 201);
      assert.equal(json.name, 'last');
      assertFaults(await api.call('POST', '/tags', { body: '{"name":"text","name":1}' }), ['name']);
    }),

  'is not looked at where none belongs': () =>
    withService((api) =>
      each(withoutBody, (operation) =>
        each(unreadable, async (make) => {
          const tenant = await createTenant(api, 'tenant');
          const { path: target } = callOf(operation, tenant);
          const { headers = [], body } = make('{"text":"more"}');
          if (body && body.length > LIMIT) return;
          const { method } = operation;
          const { status, text } = await callRaw(api, { method, target, key: tenant.key, headers, body });
          assert.equal(status, 200, text);
        }),
      ),
    ),
});

suite('a hostile body', {
  'may nest as deep as it likes': () =>
    withService((api) =>
      each(withBody, (operation) =>
        whileRefused(api, operation, async (ask, body) => {
          await each(fieldsOf(operation.body), async (schema, field) => {
            const isArray = typesOf(schema).includes('array');
            assertFaults(await ask({ body: withValue(body, field, deepArray) }), [isArray ? `${field}.0` : field]);
            assertFaults(await ask({ body: withValue(body, field, deepObject) }), [field]);
          });
          assertFaults(await ask({ body: withValue(body, 'deep', deepArray) }), ['deep']);
          assertFaults(await ask({ body: withValue(body, 'deep', deepObject) }), ['deep']);
          const headers = [JSON_TYPE, ['Idempotency-Key', 'deep']] as const;
          assertFaults(await ask({ headers, body: withValue(body, 'deep', deepObject) }), ['deep']);
          assertRefused(await ask({ body: deepArray }), 400, /must be a JSON object/);
        }),
      ),
    ),

  'may have too many names, and the message names one of them': () =>
    withService((api) =>
      each(withBody, (operation) =>
        whileRefused(api, operation, async (ask, body) => {
          const names = Array.from({ length: 100_000 }, (_, at) => `"${at.toString(36)}":0`).join();
          const answer = await ask({ body: `${body.slice(0, -1)},${names}}` });
          assertRefused(
            answer,
            422,
            /^[0-9a-z]+: too many elements, the body must have at most 1000 names, objects and arrays$/,
          );
          const some = Array.from({ length: 500 }, (_, at) => `"${at.toString(36)}":0`).join();
          assertFaults(await ask({ body: `${body.slice(0, -1)},${some}}` }), [...'0123456789']);
        }),
      ),
    ),

  'may have a name as long as itself': () =>
    withService(async (api) => {
      const answer = await api.call('POST', '/tags', { body: { name: 'x', ['n'.repeat(1_000_000)]: 1 } });
      assertRefused(answer, 422, /^n{100}…: unknown field/);
    }),

  'may have a name of any characters, which the message tells in well-formed Unicode': () =>
    withService(async (api) => {
      const names = [
        ['n'.repeat(100), 'n'.repeat(100)],
        ['😀'.repeat(100), '😀'.repeat(100)],
        ['😀'.repeat(101), `${'😀'.repeat(100)}…`],
        [`n${'😀'.repeat(100)}`, `n${'😀'.repeat(99)}…`],
        ['\ud83d', '\ufffd'],
        ['a\ude00b', 'a\ufffdb'],
      ] as const;
      for (const [name, told] of names) {
        const { json } = await api.call('POST', '/tags', { body: { name: 'x', [name]: 1 } });
        assert.equal(json.error.message, `${told}: unknown field, allowed fields: name`);
      }
    }),

  'may have an endless array': () =>
    withService((api) =>
      each(withBody, (operation) =>
        whileRefused(api, operation, async (ask, body) => {
          const arrays = fieldsOf(operation.body).filter(([, schema]) => typesOf(schema).includes('array'));
          for (const [field] of arrays) {
            await each(longArrays, async (array) => {
              const answer = await ask({ body: withValue(body, field, array) });
              assertRefused(answer, 422);
              for (const fault of faultsOf(answer)) assert.equal(fault.split('.')[0], field);
            });
          }
        }),
      ),
    ),

  'may hold characters that no text has': () =>
    withService((api) =>
      each(withBody, (operation) =>
        whileRefused(api, operation, async (ask, body) => {
          const broken = ['\\u0000', '\\ud800', '\\udfff', '\\udfff\\ud800'].map(
            (character) => `"long enough ${character}"`,
          );
          for (const [field, schema] of fieldsOf(operation.body)) {
            const types = typesOf(schema);
            await each(texts(...broken), async (text) => {
              if (types.includes('string')) assertFaults(await ask({ body: withValue(body, field, text) }), [field]);
              if (types.includes('array')) {
                assertFaults(await ask({ body: withValue(body, field, `[${text}]`) }), [`${field}.0`]);
              }
            });
          }
        }),
      ),
    ),

  'may hold numbers that no field has': () =>
    withService((api) =>
      each(withBody, (operation) =>
        whileRefused(api, operation, async (ask, body) => {
          for (const [field, schema] of fieldsOf(operation.body)) {
            if (!typesOf(schema).includes('number')) continue;
            await each(texts('1e999', '-1e999', '1e300', '-1', '-0.5', '9'.repeat(400)), async (number) => {
              assertFaults(await ask({ body: withValue(body, field, number) }), [field]);
            });
          }
        }),
      ),
    ),

  'may hold numbers and names in a resource that none has': () =>
    withService((api) =>
      whileRefused(api, createCampaign, async (ask, body) => {
        const resource = (field: string) => withValue(body, 'resources', `[{"url":"https://a.example",${field}}]`);
        for (const field of ['size', 'width', 'height', 'order']) {
          assertFaults(await ask({ body: resource(`"${field}":1e999`) }), [`resources.0.${field}`]);
          assertFaults(await ask({ body: resource(`"${field}":"1"`) }), [`resources.0.${field}`]);
        }
        for (const field of ['type', 'mimeType', 'language', 'thumbnailUrl']) {
          assertFaults(await ask({ body: resource(`"${field}":{"$ne":""}`) }), [`resources.0.${field}`]);
          assertFaults(await ask({ body: resource(`"${field}":"\\u0000"`) }), [`resources.0.${field}`]);
        }
        for (const name of NAMES_OF_OBJECTS) {
          assertFaults(await ask({ body: resource(`"${name}":{"size":1}`) }), [`resources.0.${name}`]);
        }
      }),
    ),

  'may use the names of every object': () =>
    withService((api) =>
      each(withBody, (operation) =>
        whileRefused(api, operation, async (ask, body) => {
          const before = Reflect.ownKeys(Object.prototype);
          for (const name of NAMES_OF_OBJECTS) {
            for (const value of ['{"isAdmin":true}', 'null', '"x"', '[]']) {
              assertFaults(await ask({ body: withValue(body, name, value) }), [name]);
            }
            for (const [field, schema] of fieldsOf(operation.body)) {
              if (schema.enum) assertFaults(await ask({ body: withValue(body, field, `"${name}"`) }), [field]);
            }
          }
          assert.deepEqual(Reflect.ownKeys(Object.prototype), before);
        }),
      ),
    ),

  'does not give a field by its prototype': () =>
    withService(async (api) => {
      assertFaults(await api.call('POST', '/tags', { body: '{"__proto__":{"name":"x"}}' }), ['__proto__', 'name']);
    }),

  'is taken where it only looks like one': () =>
    withService(async (api) => {
      for (const name of NAMES_OF_OBJECTS) {
        const { status, json } = await api.call('POST', '/tags', { body: { name } });
        assert.equal(status, 201);
        assert.equal(json.name, name);
      }
      const own = await createTenant(api, 'own');
      const tagIds = longArray((at) => (at % 2 ? own.ids.tags : own.ids.tags.toUpperCase()));
      const body = withValue(JSON.stringify(campaignBody()), 'tagIds', tagIds);
      assert.equal((await api.call('POST', '/campaigns', { key: own.key, body })).status, 201);
    }),
});
