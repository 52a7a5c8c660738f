import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import { type Caller, needsMember, requirePermission } from '../../core/access/permissions.ts';
import { CoreError, createInvalidFieldsError } from '../../core/shared/core-error.ts';
import { MalformedBody, readJson } from '../api/json-body.ts';
import { getNextPage } from '../api/next-page.ts';
import type { Operation, OperationResult } from '../api/operation.ts';
import type { Command, CommandContext, CommandResult } from './command.ts';
import { type CommandField, createFields, formatArguments, toRequest, type Values } from './fields.ts';
import { createRecordResult } from './output.ts';
import { actorField, findActor, findWorkspace, workspaceField } from './target.ts';
import { describeFileError, UsageError } from './usage-error.ts';

const idField = z.object({ id: z.string().describe('The ID of the record.') });
const targetFields = z.object({ workspace: workspaceField, as: actorField });
const DATA = 'The fields as JSON, @FILE with the JSON, or @- for standard input. Options win over it.';
const dataField = z.object({ data: z.string().optional().describe(DATA) });
const allField = z.object({ all: z.boolean().optional().describe('Print all pages as they are read.') });

/** An ID for examples of commands whose response has none. */
const EXAMPLE_ID = '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e05';
/** An email address for examples of commands that act as a member. */
const EXAMPLE_MEMBER = 'ada@northwind.example';

/** Returns the command of an operation that declares one. */
export function createOperationCommand(operation: Operation): Command {
  const { query, body, path, command: name = '' } = operation;
  const getQueryFields = () => createFields(query);
  const getBodyFields = () => (body ? createFields(body) : []);
  return {
    name,
    summary: operation.summary,
    details: operation.description,
    get example() {
      return createExample(operation, [...getQueryFields(), ...getBodyFields()]);
    },
    get fields() {
      return [
        ...(path.includes('{id}') ? createFields(idField, ['id']) : []),
        ...getQueryFields(),
        ...getBodyFields(),
        ...(body ? createFields(dataField) : []),
        ...('pageSize' in query.shape ? createFields(allField) : []),
        ...createFields(targetFields),
      ];
    },
    async prepare(values, stdin) {
      if (values.as === undefined && needsMember(operation.permission))
        throw createInvalidFieldsError([{ path: 'as', problem: 'is required, because this command acts as a member' }]);
      if (values.all && values.page !== undefined)
        throw createInvalidFieldsError([{ path: 'all', problem: 'not allowed together with --page' }]);
      const data = await readData(values.data as string | undefined, stdin);
      const bodyValue = body && { ...data, ...toRequest(getBodyFields(), values, 'body') };
      const queryValue = toRequest(getQueryFields(), values, 'query');
      const prepare = (more: object) => operation.prepare({ ...queryValue, ...more }, bodyValue);
      const work = prepare({});
      return async (context) => {
        const caller = await findCaller(context, values);
        requirePermission(caller, operation.permission);
        const id = (values.id as string | undefined) ?? '';
        const result = await work(context.app, caller, id);
        const bar = operation.bars?.find((field) => field === values.sortBy) ?? operation.bars?.[0];
        if (!values.all) return { ...createResult(operation, result, caller, Number(values.page ?? 1)), bar };
        const readPage = (next: object) => prepare(next)(context.app, caller, id);
        return { pages: readPages(result, readPage, context.signal), columns: getColumns(operation), bar };
      };
    },
  };
}

async function findCaller({ app }: CommandContext, { workspace, as }: Values): Promise<Caller> {
  const { id: workspaceId } = await findWorkspace(app, workspace as string | undefined);
  const member = as === undefined ? undefined : await findActor(app, workspaceId, as as string);
  return { workspaceId, access: 'full', member };
}

/** Reads the value of `--data`: JSON, `@FILE` or `@-`. */
async function readData(data: string | undefined, stdin: Readable): Promise<object> {
  if (data === undefined) return {};
  const isFile = data.startsWith('@') && data !== '@-';
  try {
    return readJson(data === '@-' ? await buffer(stdin) : isFile ? await readFile(data.slice(1)) : Buffer.from(data));
  } catch (error) {
    if (error instanceof CoreError) throw error;
    const isMalformed = error instanceof MalformedBody;
    throw new UsageError([`--data: ${isMalformed ? error.problem : `cannot be read: ${describeFileError(error)}`}`]);
  }
}

export const SECRET_WARNING = 'Store the secret now, because it is shown only once.';

/** Yields the first page and all following ones. */
async function* readPages(
  first: OperationResult,
  readPage: (next: object) => Promise<OperationResult>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let result = first;
  for (let page = 1; ; page++) {
    yield result.body;
    if (!result.hasNext || signal.aborted) return;
    result = await readPage(getNextPage(result.body, page));
  }
}

/** Returns the result of an operation, for programs and for people. */
export function createResult(
  operation: Operation,
  { body, hasNext, recordId }: Omit<OperationResult, 'status'>,
  { workspaceId, member }: Caller,
  page = 1,
): CommandResult {
  if (operation.response instanceof z.ZodArray) {
    const [next] = hasNext ? Object.entries(getNextPage(body, page)) : [];
    const hint = next && `More results: use --${next.join(' ')}, or --all.`;
    return { pages: [body], columns: getColumns(operation), hint };
  }
  const record = JSON.parse(body);
  const written = recordId === undefined ? {} : { written: { workspaceId, memberId: member?.id, recordId } };
  if (operation.method === 'DELETE') return { json: body, message: `Deleted: ${record.id}.`, ...written };
  const warning = operation.lostSecretRemedy !== undefined && { warning: SECRET_WARNING };
  return { ...createRecordResult(record), json: body, ...warning, ...written };
}

function getColumns({ columns, response }: Operation): readonly string[] {
  return columns ?? Object.keys((response as z.ZodArray<z.ZodObject>).element.shape);
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

function createExample({ path, permission, example }: Operation, fields: readonly CommandField[]): string[] {
  const values: Readonly<Record<string, unknown>> = { ...example.query, ...example.body };
  const [id] = UUID.exec(JSON.stringify(example.response)) ?? [EXAMPLE_ID];
  return [
    ...(path.includes('{id}') ? [id] : []),
    ...fields.flatMap((field) => (field.name in values ? formatArguments(field, values[field.name]) : [])),
    ...(needsMember(permission) ? [`--as ${EXAMPLE_MEMBER}`] : []),
  ];
}
