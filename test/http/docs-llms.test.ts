import assert from 'node:assert/strict';
import { operations } from '../../adapters/api/operations.ts';
import { type Api, withSharedService } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const WITHOUT_KEY = { key: null };

async function fetchText({ call }: Api): Promise<string> {
  const { status, headers, text } = await call('GET', '/llms.txt', WITHOUT_KEY);
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8');
  assert.equal(headers.get('cache-control'), 'max-age=60');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  return text;
}

suite('the text for language models', {
  'has the format of llmstxt.org: a title, a summary, and sections with lists of links': () =>
    withSharedService(async (api) => {
      const text = await fetchText(api);
      const [introduction = '', ...sections] = text.split(/^## /m);
      assert.match(introduction, /^# Workspace Advocacy API\n\n> [^\n]+\n\n[^#]+$/);
      assert.ok(sections.length > 1);
      for (const section of sections) assert.match(section, /^[\w ]+\n\n(?:- \[[^\]]+\]\([^)]+\): [^\n]+\n)+\n?$/);
    }),

  'names every operation': () =>
    withSharedService(async (api) => {
      const text = await fetchText(api);
      for (const { id, method, path, summary } of operations) {
        for (const part of [id, `\`${method} ${path}\``, summary]) assert.ok(text.includes(part), part);
      }
    }),
});
