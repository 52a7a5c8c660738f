import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { z } from 'zod';
import { httpUrl, text } from '../../adapters/api/fields.ts';
import { suite } from '../support/suite.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** More calls than V8 needs to optimize what is called (measured: about 4,000 in Node 20.20). */
const HOT_CALLS = 20_000;
const TEXTS = 64;
const SPACES = 2 ** 20;

suite('a text of the API', {
  'is trimmed, whatever it holds': () => {
    const schema = text({ max: 100 });
    for (const value of ['', 'a', 'naïve', '東京都千代田区丸の内一丁目九番一号', '😀'.repeat(20), 'a'.repeat(50)]) {
      for (const around of ['', ' ', '\t\n', '\u3000']) assert.equal(schema.parse(around + value + around), value);
    }
  },

  'keeps nothing in memory of the spaces around it': () => {
    const schema = text({ max: 100 });
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const kept = Array.from({ length: TEXTS }, (_, i) =>
      schema.parse(`a text of the number ${i}${' '.repeat(SPACES)}`),
    );
    collectGarbage();
    const added = process.memoryUsage().heapUsed - before;
    assert.ok(added < SPACES, `${kept.length} short texts take ${added} bytes`);
  },

  'is a string in JSON Schema': () => {
    assert.equal(z.toJSONSchema(text({ max: 100 })).type, 'string');
  },
});

suite('a URL of the API', {
  'is accepted with Latin-1 letters, also after many validations': () => {
    for (const url of ['https://münchen.example/ä', 'https://münchen.example', 'https://example.com/é?ü=ß#ñ']) {
      for (let calls = 0; calls < HOT_CALLS; calls++) {
        assert.equal(httpUrl.safeParse(url).success, true, `${url} is rejected after ${calls} calls`);
      }
    }
  },
});
