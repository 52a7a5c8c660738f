import { z } from 'zod';
import type { Caller, Permission } from '../../core/access/caller.ts';
import type { Application } from '../../core/application.ts';
import { memoize } from '../../core/shared/memo.ts';
import type { Page } from '../../core/shared/page.ts';
import { parseAll } from './parse.ts';

/** What an operation answers; `hasNext` tells of a list whether another page holds something. */
export interface OperationResult<Body> {
  readonly status: 200 | 201;
  readonly body: Body;
  readonly hasNext?: boolean;
}

/** What a caller may send, where the operation takes a body, and what is answered. */
interface Example<Body, Result> {
  readonly body?: Body;
  readonly response: Result;
}

type FieldsSchema = z.ZodObject;
type EmptySchema = z.ZodObject<Record<never, never>>;

/** What `run` gets: who calls, the id of the path where it has one, and the validated query and body. */
export interface OperationInput<Path extends string, Query extends FieldsSchema, Body extends FieldsSchema> {
  readonly caller: Caller;
  readonly params: Path extends `${string}{id}` ? { readonly id: string } : Record<never, never>;
  readonly query: z.output<Query>;
  readonly body: z.output<Body>;
}

/**
 * One operation of the API, declared once: routes, validation, serialisation, documents and tests are made from it.
 * Query and body are strict objects; `reply` is the schema of a record or of an array of records, and what it does not
 * declare is not returned.
 */
interface OperationDeclaration<
  Path extends string,
  Query extends FieldsSchema,
  Body extends FieldsSchema,
  Result extends z.ZodType,
> {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: Path;
  readonly permission: Permission;
  /** What it does, in a few words; and what its caller has to know, in Markdown. */
  readonly summary: string;
  readonly description: string;
  readonly query?: Query;
  readonly body?: Body;
  readonly statuses: readonly (200 | 201)[];
  readonly response: Result;
  readonly example: Example<z.input<Body>, z.input<Result>>;
  run(app: Application, input: OperationInput<Path, Query, Body>): Promise<OperationResult<z.input<Result>>>;
}

/** A declared operation, whichever: what serves one needs no more of its types. */
export interface Operation {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly permission: Permission;
  readonly summary: string;
  readonly description: string;
  readonly query: FieldsSchema;
  readonly body: FieldsSchema | undefined;
  readonly statuses: readonly (200 | 201)[];
  readonly response: z.ZodType;
  readonly example: Example<object, unknown>;
  /** Refuses with `invalid` every failed field of query and body; then does the work. */
  prepare(
    query: object,
    body: unknown,
  ): (app: Application, caller: Caller, id: string) => Promise<OperationResult<string>>;
}

/** Declares an operation. */
export function defineOperation<
  Path extends string,
  Result extends z.ZodType,
  Query extends FieldsSchema = EmptySchema,
  Body extends FieldsSchema = EmptySchema,
>(declaration: OperationDeclaration<Path, Query, Body, Result>): Operation & { readonly body: Body | undefined } {
  const { query = z.strictObject({}), body, response: reply, run } = declaration;
  const serialise = createSerializer(reply);
  const withoutQuery = query.safeParse({}).data;
  return {
    ...declaration,
    query,
    body,
    prepare(rawQuery, rawBody) {
      const isGiven = withoutQuery === undefined || Object.keys(rawQuery).length > 0;
      const [parsedQuery = withoutQuery, parsedBody] = parseAll(isGiven && [query, rawQuery], body && [body, rawBody]);
      return async (app, caller, id) => {
        const input = { caller, params: { id }, query: parsedQuery, body: parsedBody };
        const result = await run(app, input as unknown as OperationInput<Path, Query, Body>);
        return { ...result, body: serialise(result.body) };
      };
    },
  };
}

export function respondOk<Body>(body: Body): OperationResult<Body> {
  return { status: 200, body };
}

export function respondCreated<Body>(body: Body): OperationResult<Body> {
  return { status: 201, body };
}

export function respondPage<T>({ items, hasNext }: Page<T>): OperationResult<T[]> {
  return { status: 200, body: [...items], hasNext };
}

/** Writes the declared fields of a record, or of each record of an array, as JSON. */
function createSerializer(reply: z.ZodType): (body: unknown) => string {
  if (!(reply instanceof z.ZodArray)) return createRecordSerializer(reply as z.ZodObject) as (body: unknown) => string;
  const serialise = createRecordSerializer(reply.element as z.ZodObject);
  return (body) => `[${(body as readonly object[]).map(serialise).join(',')}]`;
}

function createRecordSerializer({ shape }: z.ZodObject): (record: object) => string {
  const names = Object.keys(shape);
  return memoize((record) => {
    const shown: Record<string, unknown> = {};
    for (const name of names) shown[name] = (record as Readonly<Record<string, unknown>>)[name];
    return JSON.stringify(shown);
  });
}
