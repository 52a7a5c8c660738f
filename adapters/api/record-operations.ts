import type { z } from 'zod';
import { deletedRecord } from './fields.ts';
import { defineOperation, type EmptySchema, type OperationDeclaration } from './operation.ts';
import { withArticle } from './parse.ts';

type DerivedKey = 'id' | 'method' | 'summary' | 'description';

/** An operation on the record with the ID of the path. Its ID and texts contain `name`, such as `content pillar`. */
type RecordOperation<
  Permission extends 'read' | 'inspect' | 'write',
  Result extends z.ZodType,
  Key extends string = never,
> = Omit<OperationDeclaration<`/${string}/{id}`, Permission, EmptySchema, EmptySchema, Result>, DerivedKey | Key> & {
  readonly name: string;
  readonly description?: readonly string[];
};

/** Declares the operation that returns a record. */
export function defineGet<Result extends z.ZodType>({
  name,
  ...declaration
}: RecordOperation<'read' | 'inspect', Result>) {
  return defineOperation({
    command: `${getLastWord(name)} get`,
    ...declaration,
    id: `get${toPascalCase(name)}`,
    method: 'GET',
    summary: `Retrieve ${withArticle(name)}`,
    description: [`Returns the ${name} with this ID.`, ...(declaration.description ?? [])],
  });
}

type Deletion = RecordOperation<'write', typeof deletedRecord, 'response' | 'example' | 'run'> & {
  run(...args: Parameters<RecordOperation<'write', typeof deletedRecord>['run']>): Promise<void>;
};

/** Declares the operation that deletes a record and returns its ID. */
export function defineDelete({ name, run, ...declaration }: Deletion) {
  return defineOperation({
    command: `${getLastWord(name)} delete`,
    ...declaration,
    id: `delete${toPascalCase(name)}`,
    method: 'DELETE',
    summary: `Delete ${withArticle(name)}`,
    description: [`Permanently deletes the ${name} with this ID.`, ...(declaration.description ?? [])],
    response: deletedRecord,
    example: { response: { id: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e05' } },
    run: (app, input) => run(app, input).then(() => input.params),
  });
}

/** The description of a PATCH in which all fields are optional. */
export const UPDATE = ['Updates the given fields.', 'Omitted fields are unchanged.'];

function getLastWord(name: string): string {
  return name.slice(name.lastIndexOf(' ') + 1);
}

function toPascalCase(name: string): string {
  return name.replace(/(?:^| )\w/g, (start) => start.trim().toUpperCase());
}
