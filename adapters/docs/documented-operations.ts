/** A JSON Schema of the OpenAPI document, as far as the reference reads it. */
export interface JsonSchema {
  /** The reference that this schema replaces, such as `#/components/schemas/Tag`. */
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
}

/** A field of a body, or a parameter. */
export interface DocumentedField {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly description?: string | undefined;
  readonly required?: boolean;
}

/** A parameter of the OpenAPI document. */
export interface DocumentedParameter extends DocumentedField {
  readonly in: 'path' | 'query' | 'header';
  readonly example?: unknown;
}

interface Payload {
  readonly description: string;
  readonly content: Readonly<Record<'application/json', { readonly schema: JsonSchema; readonly example: unknown }>>;
}

/** An operation of the OpenAPI document, with its method and path, and with its references replaced. */
export interface DocumentedOperation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly DocumentedParameter[];
  readonly requestBody?: Payload;
  readonly responses: Readonly<Record<string, Payload>>;
}

/** The parts of the OpenAPI document that the reference shows. */
export interface OpenApiDocument {
  readonly info: { readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
}

/** Returns the operations of an OpenAPI document with their successful responses, in its order. */
export function getDocumentedOperations(document: OpenApiDocument): DocumentedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
      const shown = inlineReferences({ ...operation, responses: Object.fromEntries(successes) }, document);
      return { ...(shown as DocumentedOperation), method: method.toUpperCase(), path };
    }),
  );
}

/** Replaces each object that is a reference to a part of the document by this part, which keeps `$ref`. */
function inlineReferences(value: unknown, document: object): unknown {
  if (Array.isArray(value)) return value.map((item) => inlineReferences(item, document));
  if (typeof value !== 'object' || value === null) return value;
  const [, ...names] = '$ref' in value ? String(value.$ref).split('/') : [];
  const target = names.reduce<object>((part, name) => (part as Record<string, object>)[name] as object, document);
  const merged = names.length > 0 ? { ...target, ...value } : value;
  return Object.fromEntries(Object.entries(merged).map(([name, inner]) => [name, inlineReferences(inner, document)]));
}
