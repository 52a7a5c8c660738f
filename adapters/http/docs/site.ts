import { createOpenApiDocument } from '../../api/openapi.ts';
import type { OpenApiDocument } from './documented-operations.ts';
import { renderErrorsPage } from './errors-page.ts';
import { DocsFiles } from './files.ts';
import { getSections, readGuide, renderGuidePage, type Section } from './guides.ts';
import type { GetPath } from './layout.ts';
import { renderLlmsFullText, renderLlmsText } from './llms.ts';
import { ERRORS_PAGE, GUIDE_PAGE, guides, REFERENCE_PAGE } from './pages.ts';
import { renderReferencePage } from './reference.ts';
import { StaticContent } from './static-content.ts';

const TEXT_TYPE = 'text/plain; charset=utf-8';

const getDocument = once(async () => createOpenApiDocument() as unknown as OpenApiDocument);
const loadFiles = once(() => DocsFiles.read());

/** The contents by path. Each one is created at its first request. */
const contents: Readonly<Record<string, () => Promise<StaticContent>>> = {
  '/openapi.json': once(async () =>
    StaticContent.create('application/json; charset=utf-8', JSON.stringify(await getDocument())),
  ),
  '/llms.txt': once(async () => StaticContent.create(TEXT_TYPE, renderLlmsText(await getDocument()))),
  '/llms-full.txt': once(async () => {
    const texts = await Promise.all(guides.map(async (guide) => [guide, await readGuide(guide)] as const));
    return StaticContent.create(TEXT_TYPE, renderLlmsFullText(await getDocument(), texts));
  }),
  [REFERENCE_PAGE.path]: createPage(async (getPath) =>
    renderReferencePage(getPath, await getDocument(), await readGuideSections()),
  ),
  [ERRORS_PAGE.path]: createPage(renderErrorsPage),
  ...Object.fromEntries(
    guides.map((guide) => [
      guide.path,
      createPage(async (getPath) => renderGuidePage(getPath, guide, await readGuide(guide))),
    ]),
  ),
};

/** Returns a page, or another document with a fixed path. */
export function getContent(path: string): Promise<StaticContent> {
  return (contents[path] as () => Promise<StaticContent>)();
}

/** Returns a static file of the pages, if there is one with this path. */
export async function findFile(path: string): Promise<StaticContent | undefined> {
  return (await loadFiles()).find(path);
}

/** Returns the sections of the guide, or none if its file is missing. Then its own page fails with an explanation. */
async function readGuideSections(): Promise<readonly Section[]> {
  try {
    return getSections(GUIDE_PAGE, await readGuide(GUIDE_PAGE));
  } catch {
    return [];
  }
}

function createPage(render: (getPath: GetPath) => string | Promise<string>): () => Promise<StaticContent> {
  return once(async () => {
    const files = await loadFiles();
    return StaticContent.create('text/html; charset=utf-8', await render((name) => files.getPath(name)));
  });
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
