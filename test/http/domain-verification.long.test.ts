import assert from 'node:assert/strict';
import { withDnsServer } from '../support/dns-server.ts';
import { assertTransientError, jsonOf } from '../support/expected-responses.ts';
import { createRecord } from '../support/operations.ts';
import { withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createWorkspace } from '../support/tenants.ts';

suite('more verifications of domains than name servers answer', {
  'wait for each other, and get 429 after 12 seconds, which is not stored for their idempotency key': () =>
    withDnsServer(({ address, answers }) =>
      withService(
        async (api) => {
          const workspace = await createWorkspace(api.app);
          const { key } = workspace;
          const ids: string[] = [];
          for (let i = 0; i < 45; i++) {
            answers.set(`_advocacy-challenge.silent-${i}.example`, 'silence');
            const { id } = await createRecord(api, workspace, '/domains', { slug: `silent-${i}.example` });
            ids.push(id);
          }
          const verify = (id: string) =>
            api.call('POST', `/domains/${id}/verification`, { key, headers: { 'Idempotency-Key': id } });
          const responses = await Promise.all(ids.map(verify));
          const served = responses.filter(({ status }) => status === 200);
          assert.equal(served.length, 30);
          for (const { json } of served) assert.match(json.problem, /ETIMEOUT/);
          const rejected = responses.filter((response) => !served.includes(response));
          for (const response of rejected) assertTransientError(response, 429, /^Too many domains are being verified/);
          answers.clear();
          const [repeated, replayed] = [rejected[0], served[0]].map((one) => ids[responses.indexOf(one as never)]);
          assert.match(jsonOf(await verify(repeated as string)).problem, /^There is no TXT record/);
          assert.match(jsonOf(await verify(replayed as string)).problem, /ETIMEOUT/);
        },
        { settings: { DNS_SERVERS: address } },
      ),
    ),
});
