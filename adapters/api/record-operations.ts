import { z } from 'zod';
import { MAX_PAGE_SIZE } from '../../core/limits.ts';
import { deletedRecord } from './fields.ts';
import { defineOperation, type EmptySchema, type OperationDeclaration } from './operation.ts';
import { withArticle } from './parse.ts';

/**
 * Returns the parts that the operations of a resource have by convention, such as their IDs and paths. `name` is the
 * name of a record, such as `content pillar`. `response` is the schema of a record.
 */
export function describeResource<Path extends string, Response extends z.ZodType>(
  name: string,
  path: Path,
  response: Response,
  example: z.input<Response>,
  maxPageSize = MAX_PAGE_SIZE,
) {
  const recordPath = `${path}/{id}` as const;
  const identify = (verb: string, record = withArticle(name)) => ({
    command: `${name.slice(name.lastIndexOf(' ') + 1)} ${verb}`,
    summary: `${toPascalCase(verb)} ${record}`,
  });
  const type = toPascalCase(name);
  return {
    create: { ...identify('create'), id: `create${type}`, method: 'POST' as const, path, response },
    list: {
      ...identify('list', `${name}s`),
      id: `list${type}s`,
      method: 'GET' as const,
      path,
      response: z.array(response).max(maxPageSize),
      example: { response: [example] },
    },
    get: {
      ...identify('get'),
      id: `get${type}`,
      method: 'GET' as const,
      path: recordPath,
      summary: `Retrieve ${withArticle(name)}`,
      description: [`Returns the ${name} with this ID.`],
      response,
      example: { response: example },
    },
    update: { ...identify('update'), id: `update${type}`, method: 'PATCH' as const, path: recordPath, response },
    delete: {
      ...identify('delete'),
      id: `delete${type}`,
      method: 'DELETE' as const,
      path: recordPath,
      description: [`Permanently deletes the ${name} with this ID.`],
    },
  };
}

type Deletion = OperationDeclaration<`${string}/{id}`, 'write', EmptySchema, EmptySchema, typeof deletedRecord>;

/** Declares an operation that deletes the record with the ID of the path, and returns the ID. */
export function defineDelete({
  run,
  ...declaration
}: Omit<Deletion, 'response' | 'example' | 'run'> & { run(...args: Parameters<Deletion['run']>): Promise<void> }) {
  return defineOperation({
    ...declaration,
    response: deletedRecord,
    example: { response: { id: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e05' } },
    run: (app, input) => run(app, input).then(() => input.params),
  });
}

/** The description of a name that the workspace can have only once. */
export const UNIQUE_NAME = [
  'The name must be unique in the workspace (409 otherwise).',
  'Names are compared case-insensitively.',
];

/** The description of a PATCH in which all fields are optional. */
export const UPDATE = ['Updates the given fields.', 'Omitted fields are unchanged.'];

function toPascalCase(name: string): string {
  return name.replace(/(?:^| )\w/g, (start) => start.trim().toUpperCase());
}
