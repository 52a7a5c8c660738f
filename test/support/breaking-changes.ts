// biome-ignore lint/suspicious/noExplicitAny: parts of a document, whose shape is examined here
type Part = any;

const METHODS = ['get', 'post', 'patch', 'delete'];
/** Limits of request fields. Each function returns whether the second limit is narrower. */
const bounds: Readonly<Record<string, (before: number, after: number) => boolean>> = {
  maxLength: (before, after) => after < before,
  maxItems: (before, after) => after < before,
  maximum: (before, after) => after < before,
  minLength: (before, after) => after > before,
  minimum: (before, after) => after > before,
};

/** Returns the changes between two OpenAPI documents that break existing clients. */
export function breakingChanges(before: Part, after: Part): string[] {
  const changes: string[] = [];
  for (const [path, methods] of Object.entries<Part>(before.paths)) {
    for (const method of METHODS.filter((name) => name in methods)) {
      const what = `${method.toUpperCase()} ${path}`;
      const [old, now] = [methods[method], after.paths[path]?.[method]];
      if (!now) changes.push(`${what} is missing`);
      else compareOperations(old, now, what);
    }
  }
  return changes;

  function compareOperations(old: Part, now: Part, what: string): void {
    if (old.operationId !== now.operationId) changes.push(`${what} has a different operationId`);
    const [oldParameters, parameters] = [parametersByName(old, before), parametersByName(now, after)];
    for (const [name, { schema }] of oldParameters) {
      const parameter = parameters.get(name);
      if (!parameter) changes.push(`${what}, ${name} is missing`);
      else compareSent(schema, parameter.schema, `${what}, ${name}`);
    }
    for (const [name, { required }] of parameters) {
      if (required && !oldParameters.get(name)?.required) changes.push(`${what}, ${name} is required`);
    }
    compareSent(schemaOf(old.requestBody), schemaOf(now.requestBody), `${what}, the body`);
    for (const [status, response] of Object.entries<Part>(old.responses)) {
      const newResponse = now.responses[status];
      if (!newResponse) {
        changes.push(`${what}, ${status} is missing`);
        continue;
      }
      compareReceived(contentOf(response, before), contentOf(newResponse, after), `${what}, ${status}`);
      const headers = resolveReference(newResponse, after).headers ?? {};
      for (const name of Object.keys(resolveReference(response, before).headers ?? {})) {
        if (!(name in headers)) changes.push(`${what}, ${status}, ${name} is missing`);
      }
    }
  }

  /** Requires that clients can still send everything that they could send before. */
  function compareSent(oldSchema: Part, nowSchema: Part, what: string): void {
    const [old, now] = [resolveReference(oldSchema, before), resolveReference(nowSchema, after)];
    if (!old || !now) {
      if (old || now?.required) changes.push(`${what} differs`);
      return;
    }
    for (const type of typesOf(old)) if (!typesOf(now).includes(type)) changes.push(`${what} does not accept ${type}`);
    for (const value of old.enum ?? [])
      if (!now.enum?.includes(value)) changes.push(`${what} does not accept ${value}`);
    if (!old.enum && now.enum) changes.push(`${what} accepts only some values`);
    if (now.default !== old.default) changes.push(`${what} has a different default`);
    if (now.pattern !== undefined && now.pattern !== old.pattern) changes.push(`${what} has a different pattern`);
    for (const [name, isNarrower] of Object.entries(bounds)) {
      if (now[name] !== undefined && (old[name] === undefined || isNarrower(old[name], now[name]))) {
        changes.push(`${what} has a narrower ${name}`);
      }
    }
    for (const [name, field] of Object.entries(old.properties ?? {})) {
      if (name in (now.properties ?? {})) compareSent(field, now.properties[name], `${what}.${name}`);
      else changes.push(`${what}.${name} is missing`);
    }
    for (const name of now.required ?? [])
      if (!old.required?.includes(name)) changes.push(`${what}.${name} is required`);
    if (old.items) compareSent(old.items, now.items, `${what}, an item`);
    for (const one of old.anyOf ?? []) {
      const same = alternativeOf(now, one);
      if (same) compareSent(one, same, what);
    }
  }

  /** Requires that responses still have everything that they had, and no new values. */
  function compareReceived(oldSchema: Part, nowSchema: Part, what: string): void {
    const [old, now] = [resolveReference(oldSchema, before), resolveReference(nowSchema, after)];
    for (const type of typesOf(now)) if (!typesOf(old).includes(type)) changes.push(`${what} may be ${type}`);
    if (old?.enum && !now?.enum) changes.push(`${what} may have any value`);
    for (const value of now?.enum ?? []) if (!old?.enum?.includes(value)) changes.push(`${what} may be ${value}`);
    for (const name of old?.required ?? []) {
      if (!now?.required?.includes(name)) changes.push(`${what}.${name} may be missing`);
    }
    for (const [name, field] of Object.entries(old?.properties ?? {})) {
      if (now?.properties?.[name]) compareReceived(field, now.properties[name], `${what}.${name}`);
      else changes.push(`${what}.${name} is missing`);
    }
    if (old?.items) compareReceived(old.items, now?.items, `${what}, an item`);
  }
}

function resolveReference(part: Part, document: Part): Part {
  if (!part?.$ref) return part;
  return part.$ref
    .slice(2)
    .split('/')
    .reduce((value: Part, name: string) => value?.[name], document);
}

function parametersByName(operation: Part, document: Part): Map<string, Part> {
  return new Map(
    (operation.parameters ?? [])
      .map((part: Part) => resolveReference(part, document))
      .map((part: Part) => [part.name, part]),
  );
}

const schemaOf = (body: Part): Part => body?.content['application/json'].schema;
const contentOf = (response: Part, document: Part): Part => schemaOf(resolveReference(response, document));

/** Returns the alternative of `anyOf` with the type of `one`. If there is none, the comparison of types reports that. */
function alternativeOf({ anyOf = [] }: Part, one: Part): Part {
  return anyOf.find((other: Part) => other.$ref === one.$ref && String(other.type) === String(one.type));
}

function typesOf(schema: Part): string[] {
  const alternatives = (schema?.anyOf ?? []).flatMap((one: Part) => (one.$ref ? ['object'] : typesOf(one)));
  return [...[schema?.type ?? []].flat(), ...alternatives];
}
