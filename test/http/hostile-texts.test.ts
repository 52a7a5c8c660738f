import assert from 'node:assert/strict';
import { each } from '../support/each.ts';
import { callOf, everyOperation, fieldsOf, typesOf, withBody, withQuery } from '../support/operations.ts';
import { callRaw } from '../support/raw.ts';
import { serving } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createTenant } from '../support/tenants.ts';

const LENGTH = 150_000;
const HEADER_LENGTH = 12_000;
/** An expression that looks at each character for each other one would take three times as long. */
const AT_MOST_MS = 5_000;

/** Texts on which careless expressions go back and forth: much that may be taken, and an end that is not. */
const texts = (length: number): Readonly<Record<string, string>> => ({
  letters: `${'a'.repeat(length)}!`,
  digits: `${'1'.repeat(length)}x`,
  spaces: `x${' '.repeat(length)}x`,
  hyphens: `a${'-'.repeat(length)}`,
  labels: `${'a.'.repeat(length / 2)}-`,
  slashes: `https://${'/'.repeat(length)}\u0001`,
  'at signs': `https://${'a@'.repeat(length / 2)}`,
  zeros: `0.${'0'.repeat(length)}e`,
  dates: '2026-01-01T00:00:00.'.padEnd(length, '0'),
  commas: ','.repeat(length),
  'combining marks': `a${'\u0301'.repeat(length / 2)}`,
  'equal signs': `${'='.repeat(length)}a`,
});

async function inTime(what: string, ask: () => Promise<{ readonly status: number }>): Promise<void> {
  const start = performance.now();
  const { status } = await ask();
  const took = performance.now() - start;
  assert.ok(status < 500, `${what} was answered ${status}`);
  assert.ok(took < AT_MOST_MS, `${what} took ${took} ms`);
}

suite('a text that is made to take long', {
  'takes no time in a field of a body': () =>
    serving(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      await each(withBody, async (operation) => {
        const { path, body } = callOf(operation, tenant);
        const fields = fieldsOf(operation.body).filter(([, schema]) => typesOf(schema).includes('string'));
        for (const [field] of fields) {
          for (const [name, text] of Object.entries(texts(LENGTH))) {
            const call = { key: tenant.key, body: { ...body, [field]: text } };
            await inTime(`${name} as ${field}`, () => api.call(operation.method, path, call));
          }
        }
      });
    }),

  'takes no time in a query, a path or a header': () =>
    serving(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      const { key } = tenant;
      await each(Object.entries(texts(HEADER_LENGTH)), async (text, name) => {
        const encoded = encodeURIComponent(text).slice(0, HEADER_LENGTH).replace(/%.?$/, '');
        for (const [, { method, query, path }] of withQuery) {
          for (const parameter of Object.keys(query.shape)) {
            const target = `${path}?${parameter}=${encoded}`;
            await inTime(`${name} as ${parameter}`, () => callRaw(api, { method, target, key }));
          }
        }
        for (const [, operation] of everyOperation) {
          const { path } = callOf(operation, tenant);
          const { method } = operation;
          await inTime(`${name} in a path`, () => callRaw(api, { method, target: `${path}${encoded}`, key }));
        }
        const printable = text.replaceAll(/[^\x20-\x7e]/g, 'a');
        for (const header of ['Authorization', 'Idempotency-Key', 'Content-Type', 'traceparent', 'X-Forwarded-For']) {
          const value = header === 'Authorization' ? `Bearer ${printable}` : printable;
          const headers = { Authorization: `Bearer ${key}`, [header]: value };
          const pairs = Object.entries(headers);
          const request = { method: 'POST', target: '/tags', headers: pairs, body: '{}' };
          await inTime(`${name} as ${header}`, () => callRaw(api, request));
        }
      });
    }),
});
