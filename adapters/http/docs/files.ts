import { readFile } from 'node:fs/promises';
import { StaticContent } from './static-content.ts';

/** The content types of the static files by name. */
const types: Readonly<Record<string, string>> = {
  'favicon.svg': 'image/svg+xml',
  'reference.js': 'text/javascript; charset=utf-8',
  'reference.css': 'text/css; charset=utf-8',
  'docs.css': 'text/css; charset=utf-8',
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
    for (const [name, type] of Object.entries(types)) {
      const content = await StaticContent.create(type, await readStatic(name));
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
