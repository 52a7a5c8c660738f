import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { each, textCases } from '../support/each.ts';
import { suite } from '../support/suite.ts';

const root = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const pages = ['', 'docs', 'docs/adr', 'clients/typescript'].flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name)),
);

/** Returns the fragments of the headings of a page, as GitHub forms them. */
function fragmentsOf(markdown: string): string[] {
  const headings = [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading as string);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

suite('the documents', {
  'link only to existing files and headings': () =>
    each(textCases(...pages), (page) => {
      for (const [, link] of read(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
        const [path = '', fragment] = (link as string).split('#');
        const target = path === '' ? page : join(dirname(page), path);
        assert.ok(existsSync(join(root, target)), link);
        if (fragment !== undefined) assert.ok(fragmentsOf(read(target)).includes(fragment), link);
      }
    }),

  'name only existing files (checked in CONTRIBUTING.md only)': () => {
    const named = [...read('CONTRIBUTING.md').matchAll(/`((?:adapters|bootstrap|core|docs|test)\/[\w./-]+\.\w+)`/g)];
    assert.ok(named.length > 30);
    for (const [, path] of named) {
      assert.ok(existsSync(join(root, path as string)) || path?.includes('NAME'), path);
    }
  },
});
