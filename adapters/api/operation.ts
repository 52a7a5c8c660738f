import { validate as isUuid, NIL } from 'uuid';
import { z } from 'zod';
import type { Caller, MemberPermission, Permission } from '../../core/access/permissions.ts';
import type { Application } from '../../core/application.ts';
import type { MemberActor } from '../../core/shared/actor.ts';
import type { Page } from '../../core/shared/page.ts';
import { parseAll } from './parse.ts';

/** A successful response, with its body as JSON. Only lists set `hasNext`: it says whether the next page has items. */
export interface OperationResult {
  readonly status: 200 | 201;
  readonly body: string;
  readonly hasNext: boolean | undefined;
  /** The ID of the record that the operation created, changed or deleted, for the log. A GET has none. */
  readonly recordId: string | undefined;
  /** Whether this is the stored response to an earlier request with the same idempotency key. */
  readonly replayed?: boolean;
}

/**
 * The result of `run`: a page for a list, and otherwise the body. `isNew` chooses the status if the operation declares
 * 200 and 201.
 */
type RunResult<Response extends z.ZodType> =
  Response extends z.ZodArray<infer Item> ? Page<z.input<Item>> : z.input<Response> & { readonly isNew?: boolean };

/**
 * The example in the OpenAPI document: query parameters and a request body, if the operation takes them, and the
 * response body.
 */
interface Example<Query, Body, Result> {
  readonly query?: Partial<Query>;
  readonly body?: Body;
  readonly response: Result;
}

type FieldsSchema = z.ZodObject;
export type EmptySchema = z.ZodObject<Record<never, never>>;

/** The input of `run`: the caller, the ID if the path has one, and the validated query and body. */
export interface OperationInput<
  Path extends string,
  P extends Permission,
  Query extends FieldsSchema,
  Body extends FieldsSchema,
> {
  readonly caller: P extends MemberPermission ? Caller & MemberActor : Caller;
  readonly params: Path extends `${string}{id}${string}` ? { readonly id: string } : Record<never, never>;
  readonly query: z.output<Query>;
  readonly body: z.output<Body>;
}

/**
 * One operation of the API, declared once. Routes, validation, serialization and the OpenAPI document are derived from
 * it, and tests iterate over all operations. The schemas `query` and `body` reject unknown fields. `response` is the
 * schema of a record or of an array of records. Fields that it does not declare are not returned.
 */
export interface OperationDeclaration<
  Path extends string,
  P extends Permission,
  Query extends FieldsSchema,
  Body extends FieldsSchema,
  Result extends z.ZodType,
> {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: Path;
  /** By default, `read` for a GET, and `write` for other methods. */
  readonly permission?: P;
  /** The command of the command line, such as `tag update`. */
  readonly command?: string;
  /** The fields of the response that are the columns of the command's table. By default, all fields. */
  readonly columns?: readonly string[];
  /** The fields of the response that the command can show as bars: it shows the one of `sortBy`, or else the first. */
  readonly bars?: readonly string[];
  /** An imperative of two to five words. */
  readonly summary: string;
  /**
   * The behavior, limits and errors that an integrator must know: sentences of at most 25 words, in Markdown. The first
   * sentence says what the operation does.
   */
  readonly description: readonly string[];
  readonly query?: Query;
  readonly body?: Body;
  /** The statuses of successful responses. By default, 201 for a POST, and 200 for other methods. */
  readonly statuses?: readonly (200 | 201)[];
  /**
   * The maximum time that the operation waits for servers other than the storage. By default, it waits for none. Such
   * an operation runs outside of a transaction, and must be safe to repeat (`Application.runOnce`).
   */
  readonly externalTimeoutMs?: number;
  /**
   * How to get another secret, if the response has one. Then an `Idempotency-Key` stores only the ID of the record, so
   * that a repeated request cannot get the secret.
   */
  readonly lostSecretRemedy?: string;
  readonly response: Result;
  readonly example: Example<z.output<Query>, z.input<Body>, z.input<Result>>;
  run(app: Application, input: OperationInput<Path, P, Query, Body>): Promise<RunResult<Result>>;
}

type AnyDeclaration = OperationDeclaration<string, Permission, FieldsSchema, FieldsSchema, z.ZodType>;
/** The parts of a declaration that have a default. */
type DefaultedKey = 'permission' | 'query' | 'statuses' | 'externalTimeoutMs';

/** A declared operation without its type parameters, for the code that serves, documents and tests all operations. */
export interface Operation
  extends Omit<AnyDeclaration, DefaultedKey | 'body' | 'example' | 'run'>,
    Required<Pick<AnyDeclaration, DefaultedKey>> {
  /** Whether the operation can read much of a collection: a list with pages, and mostly with a search. */
  readonly mayScan: boolean;
  readonly body: FieldsSchema | undefined;
  readonly example: Example<Record<string, unknown>, object, unknown>;
  /**
   * Validates query and body, and returns a function that runs the operation and serializes its response. Throws one
   * `invalid` error for all invalid fields of query and body. `isAbandoned` is that of a `PageRequest`.
   */
  prepare(
    query: object,
    body: unknown,
  ): (app: Application, caller: Caller, id: string, isAbandoned?: () => boolean) => Promise<OperationResult>;
}

/** Declares an operation. */
export function defineOperation<
  Path extends string,
  P extends Permission,
  Result extends z.ZodType,
  Query extends FieldsSchema = EmptySchema,
  Body extends FieldsSchema = EmptySchema,
>(declaration: OperationDeclaration<Path, P, Query, Body, Result>): Operation & { readonly body: Body | undefined } {
  const { method, query = z.strictObject({}), body, response, run } = declaration;
  const { permission = method === 'GET' ? 'read' : 'write' } = declaration;
  const { statuses = [method === 'POST' ? 201 : 200], externalTimeoutMs = 0 } = declaration;
  const isList = response instanceof z.ZodArray;
  const select = createSelector(response) as (body: unknown) => unknown;
  // An empty query is parsed once. `defaultQuery` is `undefined` if a parameter is required.
  const defaultQuery = query.safeParse({}).data;
  return {
    ...declaration,
    permission,
    query,
    mayScan: 'page' in query.shape,
    body,
    statuses,
    externalTimeoutMs,
    prepare(rawQuery, rawBody) {
      const shouldParseQuery = defaultQuery === undefined || Object.keys(rawQuery).length > 0;
      const [parsedQuery = defaultQuery, parsedBody] = parseAll(
        shouldParseQuery && [query, rawQuery],
        body && [body, rawBody],
      );
      return async (app, caller, pathId, isAbandoned) => {
        // No storage gets a malformed ID: it is replaced by one that no record has, so that the response is that of an
        // unknown ID.
        const id = isUuid(pathId) ? pathId.toLowerCase() : NIL;
        const input = {
          caller,
          params: { id },
          query: isAbandoned ? { ...(parsedQuery as object), isAbandoned } : parsedQuery,
          body: parsedBody,
        };
        const result: unknown = await run(app, input as unknown as OperationInput<Path, P, Query, Body>);
        const { items, hasNext } = (isList ? result : { items: result }) as Partial<Page<unknown>>;
        const { isNew = !statuses.includes(200) } = result as { isNew?: boolean };
        const recordId = method === 'GET' ? undefined : ((result as { id?: string }).id ?? id);
        return { status: isNew ? 201 : 200, body: JSON.stringify(select(items)), hasNext, recordId };
      };
    },
  };
}

/**
 * Returns a function that selects the declared fields of a value, or `undefined` if it would return every value
 * unchanged.
 */
function createSelector(schema: z.core.$ZodType): ((value: unknown) => unknown) | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodReadonly) {
    const select = createSelector(schema.unwrap());
    return select && ((value) => value && select(value));
  }
  if (schema instanceof z.ZodArray) {
    const select = createSelector(schema.element);
    return select && ((items) => (items as unknown[]).map(select));
  }
  if (!(schema instanceof z.ZodObject)) return undefined;
  const fields = Object.entries(schema.shape).map(([name, field]) => [name, createSelector(field)] as const);
  return (value) => {
    const selected: Record<string, unknown> = {};
    for (const [name, select] of fields) {
      const field = (value as Readonly<Record<string, unknown>>)[name];
      selected[name] = select && field !== null ? select(field) : field;
    }
    return selected;
  };
}
