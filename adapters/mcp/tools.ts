import type { Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type Caller, hasPermission } from '../../core/access/permissions.ts';
import { recordId } from '../api/fields.ts';
import type { Operation } from '../api/operation.ts';
import { getSectionAnchor, operationSections } from '../api/operations.ts';
import { parse } from '../api/parse.ts';

/** The arguments of a tool call, by their names. */
export type ToolArguments = Readonly<Record<string, unknown>>;

/** The input of an operation. The ID is empty if the path has none. */
export interface ToolInput {
  readonly id: string;
  readonly query: object;
  readonly body: object | undefined;
}

/** The anchors of the sections in the reference. */
export const sectionAnchors: readonly string[] = operationSections.map(getSectionAnchor);

/** Returns the operations of some sections that a caller may call as tools, in the order of the reference. */
export function listTools(caller: Caller, anchors: readonly string[]): Operation[] {
  return operationSections
    .filter((section) => anchors.includes(getSectionAnchor(section)))
    .flatMap(({ operations }) => operations)
    .filter((operation) => operation.lostSecretRemedy === undefined && hasPermission(caller, operation.permission));
}

const descriptions = new Map<Operation, Tool>();

/** Describes an operation as a tool of the Model Context Protocol. Creates each description once. */
export function describeTool(operation: Operation): Tool {
  const tool = descriptions.get(operation) ?? createTool(operation);
  descriptions.set(operation, tool);
  return tool;
}

function createTool(operation: Operation): Tool {
  const { id: name, method, summary, description } = operation;
  return {
    name,
    description: [`${summary}.`, ...description].join(' '),
    inputSchema: createInputSchema(operation),
    annotations: {
      readOnlyHint: method === 'GET',
      destructiveHint: method === 'DELETE',
      idempotentHint: method !== 'POST',
    },
  };
}

const idField = z.object({ id: recordId });

function hasId({ path }: Operation): boolean {
  return path.includes('{id}');
}

function createInputSchema(operation: Operation): Tool['inputSchema'] {
  const { query, body } = operation;
  const fields = z.strictObject({ ...(hasId(operation) && idField.shape), ...query.shape, ...body?.shape });
  const { $schema: _, properties = {}, ...schema } = z.toJSONSchema(fields, { io: 'input', unrepresentable: 'any' });
  // zod omits the default of a schema that transforms text.
  for (const [name, field] of Object.entries(query.shape))
    if (field instanceof z.ZodDefault) Object.assign(properties[name] as object, { default: field.def.defaultValue });
  return { ...schema, properties } as Tool['inputSchema'];
}

/**
 * Returns the arguments of a tool call as the input of the operation. Throws `invalid` if the ID is missing. The
 * validation of the operation rejects unknown arguments.
 */
export function toOperationInput(operation: Operation, toolArguments: ToolArguments): ToolInput {
  const { id } = hasId(operation) ? parse(idField, toolArguments) : { id: '' };
  const entries = Object.entries(toolArguments).filter(([name]) => name !== 'id' || !hasId(operation));
  const isInBody = ([name]: [string, unknown]) => operation.body !== undefined && !(name in operation.query.shape);
  return {
    id,
    query: Object.fromEntries(entries.filter((entry) => !isInBody(entry)).flatMap(toParameter)),
    body: operation.body && Object.fromEntries(entries.filter(isInBody)),
  };
}

/**
 * Returns an argument as a parameter of a query, whose values are texts. Objects and `null` fail the validation. An
 * empty array is like a parameter that is not sent.
 */
function toParameter([name, value]: [string, unknown]): [string, unknown[]][] {
  const values = [value].flat().map((item) => (typeof item === 'object' ? item : String(item)));
  return values.length > 0 ? [[name, values]] : [];
}
