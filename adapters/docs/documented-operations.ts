import type { DocumentedField, JsonSchema, NamedSchemas } from './schema-view.ts';

/** A parameter of the OpenAPI document. */
export interface DocumentedParameter extends DocumentedField {
  readonly in: 'path' | 'query' | 'header';
  readonly example?: unknown;
}

/** The parts of the OpenAPI document that the reference shows. */
export interface OpenApiDocument {
  readonly info: { readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, PathOperation>>>>;
  readonly components: {
    readonly schemas: NamedSchemas;
    readonly parameters: Readonly<Record<string, DocumentedParameter>>;
  };
}

interface PathOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly (DocumentedParameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content: Content }>>;
}

type Content = Readonly<Record<'application/json', { readonly schema: JsonSchema; readonly example: unknown }>>;

/** An operation of the OpenAPI document, in the form that the reference shows. */
export type DocumentedOperation = ReturnType<typeof getDocumentedOperations>[number];

/** Returns the operations of an OpenAPI document, in its order. */
export function getDocumentedOperations({ paths, components }: OpenApiDocument) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { operationId, summary, description, tags, parameters = [], requestBody, responses } = operation;
      const body = requestBody?.content['application/json'];
      const resolvedParameters = parameters.map((parameter) =>
        '$ref' in parameter
          ? (components.parameters[parameter.$ref.split('/').at(-1) as string] as DocumentedParameter)
          : parameter,
      );
      return {
        id: operationId,
        method: method.toUpperCase(),
        path,
        tag: tags[0] as string,
        summary,
        description,
        parameters: resolvedParameters,
        bodySchema: body?.schema,
        bodyExample: body?.example,
        queryExample: createQueryExample(resolvedParameters),
        /** The successful responses. */
        successes: Object.entries(responses)
          .filter(([status]) => status.startsWith('2'))
          .map(([status, response]) => ({
            status,
            description: response.description,
            ...response.content['application/json'],
          })),
      };
    }),
  );
}

/** Returns a query with the examples of the parameters, such as `?page=2`, or an empty text. */
function createQueryExample(parameters: readonly DocumentedParameter[]): string {
  const query = new URLSearchParams();
  for (const parameter of parameters)
    if (parameter.in === 'query' && parameter.example !== undefined)
      query.set(parameter.name, String(parameter.example));
  return query.size > 0 ? `?${query}` : '';
}
