import assert from 'node:assert/strict';
import { each } from '../support/each.ts';
import { UNKNOWN_ID } from '../support/expected-responses.ts';
import {
  allOperations,
  getInputFields,
  getTypes,
  newValidCall,
  operationsWithBody,
  toPath,
} from '../support/operations.ts';
import { withProcess } from '../support/process.ts';
import { callRaw } from '../support/raw-requests.ts';
import { type ApiResponse, DEMO_API_KEY, withSharedService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createTenant } from '../support/tenants.ts';

const TEXT_LENGTH = 150_000;
/** A regular expression with quadratic time would take about three times this duration. */
const MAX_DURATION_MS = 5_000;

/**
 * Returns texts on which careless regular expressions backtrack: many characters that match, and an end that does not.
 */
const createTexts = (length: number): Readonly<Record<string, string>> => ({
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

/** Returns a filter that accepts each value only once, because operations share schemas and paths. */
function createFilter(): (value: unknown) => boolean {
  const seen = new Set<unknown>();
  return (value) => seen.size < seen.add(value).size;
}

async function assertFast(description: string, send: () => Promise<ApiResponse>): Promise<void> {
  const start = performance.now();
  const { status, text } = await send();
  const durationMs = performance.now() - start;
  assert.doesNotMatch(text, /headers are too large/, description);
  assert.ok(status < 500, `${description} got status ${status}`);
  assert.ok(durationMs < MAX_DURATION_MS, `${description} took ${durationMs} ms`);
}

suite('a text that could make a regular expression slow', {
  'takes little time in a field of a body': () =>
    withSharedService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      const isNewSchema = createFilter();
      await each(operationsWithBody, async (operation) => {
        const { path, body } = newValidCall(operation, tenant);
        const fields = getInputFields(operation.body).filter(([, schema]) => getTypes(schema).includes('string'));
        for (const [field] of fields.filter(([name]) => isNewSchema(operation.body?.shape[name]))) {
          for (const [name, text] of Object.entries(createTexts(TEXT_LENGTH))) {
            const call = { key: tenant.key, body: { ...body, [field]: text } };
            await assertFast(`${name} as ${field}`, () => api.call(operation.method, path, call));
          }
        }
      });
    }),

  'takes little time in a query, a path or a header, even if it exceeds the default header limit of Node': () =>
    withProcess({ NODE_OPTIONS: `--max-http-header-size=${4 * TEXT_LENGTH}`, TRUST_PROXY: '1' }, async (api) => {
      const key = DEMO_API_KEY;
      await each(createTexts(TEXT_LENGTH), async (text, name) => {
        const encoded = encodeURIComponent(text);
        const [isNewSchema, isNewPath] = [createFilter(), createFilter()];
        for (const [, operation] of allOperations) {
          const { method, query } = operation;
          const path = toPath(operation, UNKNOWN_ID);
          for (const [parameter] of Object.entries(query.shape).filter(([, schema]) => isNewSchema(schema))) {
            const target = `${path}?${parameter}=${encoded}`;
            await assertFast(`${name} as ${parameter}`, () => callRaw(api, { method, target, key }));
          }
          if (isNewPath(path))
            await assertFast(`${name} in a path`, () => callRaw(api, { method, target: `${path}${encoded}`, key }));
        }
        const printable = text.replaceAll(/[^\x20-\x7e]/g, 'a');
        for (const [header, value] of [
          ['Authorization', `Bearer ${printable}`],
          ['Idempotency-Key', printable],
          ['Content-Type', printable],
          ['traceparent', printable],
          ['X-Forwarded-For', printable],
        ] as const) {
          // The service reads X-Forwarded-For only if it rejects the key.
          const keySuffix = header === 'X-Forwarded-For' ? 'wrong' : '';
          const pairs = Object.entries({ Authorization: `Bearer ${key}${keySuffix}`, [header]: value });
          const request = { method: 'POST', target: '/tags', headers: pairs, body: '{}' };
          await assertFast(`${name} as ${header}`, () => callRaw(api, request));
        }
      });
    }),
});
