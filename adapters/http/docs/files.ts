import { readFile } from 'node:fs/promises';
import { STYLE } from './layout.ts';
import { StaticContent } from './static-content.ts';

const JAVASCRIPT_TYPE = 'text/javascript; charset=utf-8';
const CSS_TYPE = 'text/css; charset=utf-8';

/** The static files by name: their content type, and a function that reads them. */
const sources: Readonly<Record<string, readonly [type: string, read: () => Promise<Buffer>]>> = {
  'favicon.svg': ['image/svg+xml', () => readStatic('favicon.svg')],
  'reference.js': [JAVASCRIPT_TYPE, () => readStatic('reference.js')],
  'reference.css': [CSS_TYPE, () => readStatic('reference.css')],
  'docs.css': [CSS_TYPE, async () => Buffer.from(STYLE)],
};

/** Reads a file that is sent as it is. The build does not copy it to `dist`. */
function readStatic(name: string): Promise<Buffer> {
  return readFile(new URL(`adapters/http/docs/static/${name}`, import.meta.resolve('workspace-advocacy/package.json')));
}

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
