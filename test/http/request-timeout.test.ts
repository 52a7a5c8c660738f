import assert from 'node:assert/strict';
import { RequestTimeout } from '../../adapters/http/request-timeout.ts';
import { doNothing } from '../../core/shared/do-nothing.ts';
import { suite } from '../support/suite.ts';

suite('the timeout of a request', {
  'is longer for work that waits for other servers': async () => {
    let release: (value: string) => void = doNothing;
    const timeout = new RequestTimeout(performance.now() - 60_000);
    const external = timeout.run(new Promise<string>((resolve) => (release = resolve)), 120_000);
    await assert.rejects(timeout.run(new Promise(doNothing)), { name: 'StorageUnavailable' });
    release('done');
    assert.equal(await external, 'done');
  },
});
