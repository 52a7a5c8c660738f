import { createOpenApiDocument } from '../api/openapi.ts';
import type { OpenApiDocument } from './documented-operations.ts';
import { renderErrorsPage } from './errors-page.ts';
import { readDocsFile, renderGuidePage } from './guides.ts';
import { renderLlmsText } from './llms.ts';
import { ERRORS_PAGE, guides, REFERENCE_PAGE } from './pages.ts';
import { renderReferencePage } from './reference.ts';

let document: OpenApiDocument | undefined;

/** Returns the OpenAPI document. Creating it takes a fifth of a second, so it is created only if a content needs it. */
function getDocument(): OpenApiDocument {
  document ??= createOpenApiDocument() as unknown as OpenApiDocument;
  return document;
}

/**
 * The functions that create contents, by path. A path of `mediaTypes` that is missing here belongs to a file, which is
 * sent as it is.
 */
const creators: Readonly<Record<string, () => string | Promise<string>>> = {
  '/openapi.json': () => JSON.stringify(getDocument()),
  '/llms.txt': () => renderLlmsText(getDocument()),
  [REFERENCE_PAGE.path]: () => renderReferencePage(getDocument()),
  [ERRORS_PAGE.path]: renderErrorsPage,
  ...Object.fromEntries(guides.map((guide) => [guide.path, () => renderGuidePage(guide)])),
};

/** Creates the text of the content at a path of the documentation. */
export async function createText(path: string): Promise<string> {
  // Files are read from the sources, because the build does not copy the folder `static` to `dist`.
  const create = creators[path] ?? (() => readDocsFile(path.replace('/docs/files', 'adapters/docs/static')));
  return create();
}
