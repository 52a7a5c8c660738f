/** A JSON Schema of the OpenAPI document, as far as the examples and the reference read it. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  examples?: readonly unknown[];
}

/** A schema of a request or response body, the example of the body, and the resource that the operation belongs to. */
export interface BodyExample {
  readonly schema: JsonSchema;
  readonly example: unknown;
  readonly resource: string;
}

/**
 * Adds examples to the fields of schemas. A field gets the first of these that exists:
 *
 * 1. The examples that it declares.
 * 2. Its value in the example of the body.
 * 3. The examples of the field with the same name in another body of the resource. Examples of PATCH bodies often omit
 *    fields.
 * 4. A value that its keywords allow (`findExamples`).
 */
export function addFieldExamples(bodies: readonly BodyExample[], components: Readonly<Record<string, unknown>>): void {
  const resolve = (schema: JsonSchema): JsonSchema =>
    schema.$ref ? (components[schema.$ref.split('/').at(-1) as string] as JsonSchema) : schema;

  const addFrom = (reference: JsonSchema, value: unknown): void => {
    const schema = resolve(reference);
    for (const option of schema.anyOf ?? []) addFrom(option, value);
    if (Array.isArray(value) && schema.items) for (const item of value) addFrom(schema.items, item);
    if (typeof value !== 'object' || value === null) return;
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      const fieldValue = (value as Readonly<Record<string, unknown>>)[name];
      if (fieldValue === undefined || fieldValue === null) continue;
      field.examples ??= [fieldValue];
      addFrom(field, fieldValue);
    }
  };
  for (const { schema, example } of bodies) addFrom(schema, example);

  const examplesByResourceAndName = new Map<string, readonly unknown[]>();
  const getFieldsByResourceAndName = ({ schema, resource }: BodyExample) => {
    const body = resolve(schema);
    const { properties = {} } = body.items ? resolve(body.items) : body;
    return Object.entries(properties).map(([name, field]) => [`${resource} ${name}`, field] as const);
  };
  const fields = bodies.flatMap(getFieldsByResourceAndName);
  for (const [name, { examples }] of fields) if (examples) examplesByResourceAndName.set(name, examples);
  for (const [name, field] of fields) {
    const examples = examplesByResourceAndName.get(name) ?? findExamples(field);
    if (examples) field.examples ??= examples;
  }
}

/**
 * Returns the examples that a schema declares. If it declares none, returns a valid value that follows from its
 * keywords, if any.
 */
export function findExamples(schema: JsonSchema): readonly unknown[] | undefined {
  if (schema.examples) return schema.examples;
  if (schema.items?.examples) return [schema.items.examples];
  if (schema.default !== undefined) return [schema.default];
  if (schema.enum) return schema.enum.slice(0, 1);
  if (schema.type === 'boolean') return [true];
  if (schema.minimum !== undefined) return [schema.minimum];
  return schema.anyOf?.map(findExamples).find((examples) => examples !== undefined);
}
