import { readFile } from 'node:fs/promises';
import { createOpenApiDocument } from '../../api/openapi.ts';
import type { OpenApiDocument } from './documented-operations.ts';
import { renderErrorsPage } from './errors-page.ts';
import { getSections, readGuide, renderGuidePage, type Section } from './guides.ts';
import { renderLlmsFullText, renderLlmsText } from './llms.ts';
import { ERRORS_PAGE, fileTypes, GUIDE_PAGE, guides, REFERENCE_PAGE } from './pages.ts';
import { renderReferencePage } from './reference.ts';
import { createContent, type StaticContent } from './static-content.ts';

const HTML_TYPE = 'text/html; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';

const getDocument = once(async () => createOpenApiDocument() as unknown as OpenApiDocument);

/** Returns a function that creates a content once. */
const define = (type: string, create: () => Promise<string | Buffer>) =>
  once(async () => createContent(type, await create()));

/** The contents by path. Each one is created at its first request. */
const contents: Readonly<Record<string, () => Promise<StaticContent>>> = {
  '/openapi.json': define('application/json; charset=utf-8', async () => JSON.stringify(await getDocument())),
  '/llms.txt': define(TEXT_TYPE, async () => renderLlmsText(await getDocument())),
  '/llms-full.txt': define(TEXT_TYPE, async () => {
    const texts = await Promise.all(guides.map(async (guide) => [guide, await readGuide(guide)] as const));
    return renderLlmsFullText(await getDocument(), texts);
  }),
  [REFERENCE_PAGE.path]: define(HTML_TYPE, async () =>
    renderReferencePage(await getDocument(), await readGuideSections()),
  ),
  [ERRORS_PAGE.path]: define(HTML_TYPE, async () => renderErrorsPage()),
  ...Object.fromEntries(
    guides.map((guide) => [guide.path, define(HTML_TYPE, async () => renderGuidePage(guide, await readGuide(guide)))]),
  ),
  ...Object.fromEntries(Object.entries(fileTypes).map(([path, type]) => [path, define(type, () => readStatic(path))])),
};

/** Returns a page, or another document. */
export function getContent(path: string): Promise<StaticContent> {
  return (contents[path] as () => Promise<StaticContent>)();
}

/**
 * Returns the sections of the guide, or none if its file is missing. The reference then works without them. A request for the page of
 * the guide fails, and the log explains why.
 */
async function readGuideSections(): Promise<readonly Section[]> {
  try {
    return getSections(GUIDE_PAGE, await readGuide(GUIDE_PAGE));
  } catch {
    return [];
  }
}

/** Reads a file that is sent as it is. The build does not copy it to `dist`. */
function readStatic(path: string): Promise<Buffer> {
  const file = path.replace('/docs/files', 'adapters/http/docs/static');
  return readFile(new URL(file, import.meta.resolve('workspace-advocacy/package.json')));
}

/** Returns a function that creates a value once. If that fails, the next call tries again. */
function once<T>(create: () => Promise<T>): () => Promise<T> {
  let created: Promise<T> | undefined;
  return () => {
    created ??= create().catch((error) => {
      created = undefined;
      throw error;
    });
    return created;
  };
}
