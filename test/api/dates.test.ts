import assert from 'node:assert/strict';
import { operations } from '../../adapters/api/operations.ts';
import type { Caller } from '../../core/access/permissions.ts';
import { OWN, testCore } from '../support/core.ts';
import { campaignBody } from '../support/samples.ts';
import { suite } from '../support/suite.ts';

const CALLER = { workspaceId: OWN } as Caller;

/** Returns the number of dates that `run` parses, and the result of `run`. */
async function countParsedDates<T>(run: () => Promise<T>): Promise<[count: number, result: T]> {
  const { parse } = Date;
  let count = 0;
  Date.parse = (text) => {
    count++;
    return parse(text);
  };
  try {
    const result = await run();
    return [count, result];
  } finally {
    Date.parse = parse;
  }
}

suite('the dates of a campaign', {
  'are parsed once by the request that sends them, and never afterwards': async () => {
    const { app } = testCore();
    const call = (operationId: string, body?: object, id = '') =>
      countParsedDates(async () => {
        const operation = operations.find((one) => one.id === operationId);
        const result = await operation?.prepare({}, body)(app, CALLER, id);
        return JSON.parse(result?.body ?? '');
      });
    const [createCount, { id }] = await call('createCampaign', campaignBody);
    const [updateCount, updated] = await call('updateCampaign', { endDate: '2027-01-01' }, id);
    const [otherCount] = await call('updateCampaign', { name: 'New' }, id);
    const [listCount, listed] = await call('listCampaigns');
    assert.deepEqual([createCount, updateCount, otherCount, listCount], [2, 1, 0, 0]);
    assert.deepEqual([updated.startDate, updated.endDate], [campaignBody.startDate, '2027-01-01']);
    assert.deepEqual([listed[0].startDate, listed[0].endDate], [campaignBody.startDate, '2027-01-01']);
  },
});
