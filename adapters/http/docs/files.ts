import { readFile } from 'node:fs/promises';
import { STYLE } from './layout.ts';
import { REFERENCE_SCRIPT, REFERENCE_STYLE } from './reference.ts';
import { StaticContent } from './static-content.ts';

const JAVASCRIPT_TYPE = 'text/javascript; charset=utf-8';
const CSS_TYPE = 'text/css; charset=utf-8';

/** The static files by name: their content type, and a function that reads them. */
const sources: Readonly<Record<string, readonly [type: string, read: () => Promise<Buffer>]>> = {
  'swagger-ui-bundle.js': [
    JAVASCRIPT_TYPE,
    () => readFile(new URL(import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js'))),
  ],
  'swagger-ui.css': [CSS_TYPE, () => readFile(new URL(import.meta.resolve('swagger-ui-dist/swagger-ui.css')))],
  'favicon-32x32.png': ['image/png', () => readFile(new URL(import.meta.resolve('swagger-ui-dist/favicon-32x32.png')))],
  'reference.js': [JAVASCRIPT_TYPE, async () => Buffer.from(REFERENCE_SCRIPT)],
  'reference.css': [CSS_TYPE, async () => Buffer.from(REFERENCE_STYLE)],
  'docs.css': [CSS_TYPE, async () => Buffer.from(STYLE)],
};

/** The static files of the documentation pages. Their paths contain a hash of the content, so clients can cache them forever. */
export class DocsFiles {
  private constructor(
    private readonly files: ReadonlyMap<string, StaticContent>,
    private readonly paths: ReadonlyMap<string, string>,
  ) {}

  /** Reads and compresses all files. */
  static async read(): Promise<DocsFiles> {
    const files = new Map<string, StaticContent>();
    const paths = new Map<string, string>();
    for (const [name, [type, read]] of Object.entries(sources)) {
      const content = await StaticContent.create(type, await read());
      const path = `/docs/files/${content.hash}/${name}`;
      files.set(path, content);
      paths.set(name, path);
    }
    return new DocsFiles(files, paths);
  }

  find(path: string): StaticContent | undefined {
    return this.files.get(path);
  }

  getPath(name: string): string {
    return this.paths.get(name) as string;
  }
}
