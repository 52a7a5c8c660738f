import assert from 'node:assert/strict';
import { each } from '../support/each.ts';
import { callOf, everyOperation, fieldsOf, pathOf, typesOf, withBody } from '../support/operations.ts';
import { withProcess } from '../support/process.ts';
import { callRaw } from '../support/raw.ts';
import { type Answer, DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createTenant, NEVER } from '../support/tenants.ts';

const LENGTH = 150_000;
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

async function inTime(what: string, ask: () => Promise<Answer>): Promise<void> {
  const start = performance.now();
  const { status, text } = await ask();
  const took = performance.now() - start;
  assert.doesNotMatch(text, /headers are too large/, what);
  assert.ok(status < 500, `${what} was answered ${status}`);
  assert.ok(took < AT_MOST_MS, `${what} took ${took} ms`);
}

suite('a text that is made to take long', {
  'takes no time in a field of a body': () =>
    withService(async (api) => {
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

  'takes no time in a query, a path or a header, even of a length that Node refuses as it comes': () =>
    withProcess({ NODE_OPTIONS: `--max-http-header-size=${4 * LENGTH}`, TRUST_PROXY: '1' }, async (api) => {
      const key = DEMO_API_KEY;
      await each(texts(LENGTH), async (text, name) => {
        const encoded = encodeURIComponent(text);
        for (const [, operation] of everyOperation) {
          const { method, query } = operation;
          const path = pathOf(operation, NEVER);
          for (const parameter of Object.keys(query.shape)) {
            const target = `${path}?${parameter}=${encoded}`;
            await inTime(`${name} as ${parameter}`, () => callRaw(api, { method, target, key }));
          }
          await inTime(`${name} in a path`, () => callRaw(api, { method, target: `${path}${encoded}`, key }));
        }
        const printable = text.replaceAll(/[^\x20-\x7e]/g, 'a');
        for (const [header, value] of [
          ['Authorization', `Bearer ${printable}`],
          ['Idempotency-Key', printable],
          ['Content-Type', printable],
          ['traceparent', printable],
          ['X-Forwarded-For', printable],
        ] as const) {
          // An address is looked at where a key is refused.
          const wrong = header === 'X-Forwarded-For' ? 'wrong' : '';
          const pairs = Object.entries({ Authorization: `Bearer ${key}${wrong}`, [header]: value });
          const request = { method: 'POST', target: '/tags', headers: pairs, body: '{}' };
          await inTime(`${name} as ${header}`, () => callRaw(api, request));
        }
      });
    }),
});
