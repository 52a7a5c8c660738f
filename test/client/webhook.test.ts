import assert from 'node:assert/strict';
import { Webhook } from 'standardwebhooks';
import { AdvocacyClient, verifyWebhook, WebhookVerificationError } from '../../clients/typescript/client.ts';
import { each } from '../support/each.ts';
import { createFixture } from '../support/fixture.ts';
import { type Api, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';
import { RECEIVER_SETTINGS, startReceiver } from '../support/webhook-receiver.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const EVENT = { id: 'e1', sequence: 3, type: 'member.created', createdAt: '2026-06-02T09:30:00.000Z', data: {} };

/** A request to a webhook, in parts that tests change. */
interface SignedRequest {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns a request that was signed with a secret, some seconds ago. */
function sign(secret = SECRET, ageSeconds = 0, text: unknown = EVENT): SignedRequest {
  const body = JSON.stringify(text);
  const time = new Date(Date.now() - ageSeconds * 1000);
  return {
    body,
    headers: {
      'webhook-id': 'e1',
      'webhook-timestamp': `${Math.floor(time.getTime() / 1000)}`,
      'webhook-signature': new Webhook(secret).sign('e1', time, body),
    },
  };
}

/** Returns a signed request with other values of headers. */
function withHeaders(change: (signature: string) => Readonly<Record<string, string>>): SignedRequest {
  const { body, headers } = sign();
  return { body, headers: { ...headers, ...change(headers['webhook-signature'] as string) } };
}

const signatures = (change: (signature: string) => string) =>
  withHeaders((signature) => ({ 'webhook-signature': change(signature) }));

const OTHER = `v1,${Buffer.alloc(32).toString('base64')}`;
/** The same lists of signatures, to which this client and the package `standardwebhooks` respond in the same way. */
const valid: Readonly<Record<string, SignedRequest>> = {
  'one signature': sign(),
  'a body that is not ASCII': sign(SECRET, 0, { name: 'Zoë 𝒳 \u2028' }),
  'an age below the limit': sign(SECRET, 298),
  'a time that is a little ahead': sign(SECRET, -298),
  'a signature after another one': signatures((signature) => `${OTHER} ${signature}`),
  'a signature before another one': signatures((signature) => `${signature} ${OTHER}`),
  'a signature between those of other versions': signatures((signature) => `v1a,abc ${signature} v2,abc=`),
};
const invalid: Readonly<Record<string, SignedRequest>> = {
  'another secret': sign(`whsec_${Buffer.alloc(32, 8).toString('base64')}`),
  'an age over the limit': sign(SECRET, 302),
  'a time that is too far ahead': sign(SECRET, -303),
  'a changed body': { ...sign(), body: JSON.stringify({ ...EVENT, sequence: 4 }) },
  'another ID': withHeaders(() => ({ 'webhook-id': 'e2' })),
  'another timestamp': withHeaders(() => ({ 'webhook-timestamp': `${Math.floor(Date.now() / 1000) - 60}` })),
  'no timestamp': withHeaders(() => ({ 'webhook-timestamp': '' })),
  'a word as the timestamp': withHeaders(() => ({ 'webhook-timestamp': 'now' })),
  'no signature': signatures(() => ''),
  'a signature without a version': signatures((signature) => signature.replace('v1,', '')),
  'a signature of another version': signatures((signature) => signature.replace('v1,', 'v1a,')),
  'half a signature': signatures((signature) => signature.slice(0, 20)),
  'a signature without its padding': signatures((signature) => signature.slice(0, -1)),
  'no base64': signatures(() => `v1,${'?'.repeat(44)}`),
  'only other signatures': signatures(() => `${OTHER} ${OTHER}`),
};

suite('verifyWebhook', {
  'accepts the signed requests that the package standardwebhooks accepts, and returns the event': () =>
    each(valid, async ({ body, headers }) => {
      assert.deepEqual(new Webhook(SECRET).verify(body, headers), JSON.parse(body));
      assert.deepEqual(await verifyWebhook(body, headers, SECRET), JSON.parse(body));
      assert.deepEqual(await verifyWebhook(Buffer.from(body), new Headers(headers), SECRET), JSON.parse(body));
    }),

  'rejects the requests that the package standardwebhooks rejects': () =>
    each(invalid, async ({ body, headers }) => {
      assert.throws(() => new Webhook(SECRET).verify(body, headers));
      await assert.rejects(verifyWebhook(body, headers, SECRET), WebhookVerificationError);
    }),

  'accepts what the service sends': async () => {
    const receiver = await startReceiver();
    const test = async (api: Api) => {
      const { key } = await createFixture(api);
      const client = new AdvocacyClient({ baseUrl: api.url, key });
      const { id, secret } = await client.request('POST', '/webhooks', { body: { url: receiver.url } });
      await client.request('POST', '/webhooks/{id}/test', { path: { id } });
      const member = await client.request('POST', '/members', { body: { name: 'Kim', email: 'kim@example.com' } });
      await waitUntil(() => receiver.requests.length === 2);
      const events = await Promise.all(
        receiver.requests.map(({ body, headers }) => verifyWebhook(body, headers, secret)),
      );
      assert.deepEqual(
        events.map(({ type, data }) => [type, data]),
        [
          ['webhook.test', {}],
          ['member.created', { memberId: member.id }],
        ],
      );
    };
    await withService(test, { settings: RECEIVER_SETTINGS }).finally(() => receiver.close());
  },

  'names the header that is missing or is sent twice': async () => {
    const { body, headers } = sign();
    for (const name of Object.keys(headers)) {
      const { [name]: value = '', ...others } = headers;
      const expected = { name: 'WebhookVerificationError', message: `The header ${name} is missing.` };
      await assert.rejects(verifyWebhook(body, others, SECRET), expected);
      await assert.rejects(verifyWebhook(body, new Headers(others), SECRET), expected);
      await assert.rejects(verifyWebhook(body, { ...others, [name]: [value, value] }, SECRET), expected);
    }
  },
});
