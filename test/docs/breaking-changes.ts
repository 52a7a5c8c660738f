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
    for (const status of Object.keys(now.responses)) {
      if (!(status in old.responses)) changes.push(`${what} may return ${status}`);
    }
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
  function compareSent(old: Part, now: Part, what: string): void {
    if (!old || !now) {
      if (old || resolveReference(now, after)?.required) changes.push(`${what} differs`);
      return;
    }
    if (now.default !== old.default) changes.push(`${what} has a different default`);
    const alternatives = listAlternatives(now, after);
    for (const alternative of listAlternatives(old, before)) {
      const accepted = findAlternative(alternatives, alternative.type);
      if (accepted) compareSentValue(alternative, accepted, what);
      else changes.push(`${what} does not accept ${alternative.type}`);
    }
  }

  function compareSentValue(old: Part, now: Part, what: string): void {
    for (const value of old.enum ?? [])
      if (!now.enum?.includes(value)) changes.push(`${what} does not accept ${value}`);
    if (!old.enum && now.enum) changes.push(`${what} accepts only some values`);
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
  }

  /** Requires that responses still have everything that they had, and no new values. */
  function compareReceived(old: Part, now: Part, what: string): void {
    const alternatives = listAlternatives(old, before);
    for (const alternative of listAlternatives(now, after)) {
      const known = findAlternative(alternatives, alternative.type);
      if (known) compareReceivedValue(known, alternative, what);
      else changes.push(`${what} may be ${alternative.type}`);
    }
  }

  function compareReceivedValue(old: Part, now: Part, what: string): void {
    if (old.enum && !now.enum) changes.push(`${what} may have any value`);
    for (const value of now.enum ?? [])
      if (old.enum && !old.enum.includes(value)) changes.push(`${what} may be ${value}`);
    for (const name of old.required ?? []) {
      if (!now.required?.includes(name)) changes.push(`${what}.${name} may be missing`);
    }
    for (const [name, field] of Object.entries(old.properties ?? {})) {
      if (now.properties?.[name]) compareReceived(field, now.properties[name], `${what}.${name}`);
      else changes.push(`${what}.${name} is missing`);
    }
    if (old.items) compareReceived(old.items, now.items, `${what}, an item`);
  }
}

/** Returns the schemas that a value can match, each with one type. A number that is a multiple of 1 is an integer. */
function listAlternatives(schema: Part, document: Part): Part[] {
  const resolved = resolveReference(schema, document);
  if (resolved?.anyOf) return resolved.anyOf.flatMap((one: Part) => listAlternatives(one, document));
  return [resolved?.type ?? 'any type']
    .flat()
    .map((type) => ({ ...resolved, type: type === 'number' && resolved.multipleOf === 1 ? 'integer' : type }));
}

/** Returns the alternative that accepts values of a type. Integers are also numbers. */
function findAlternative(alternatives: readonly Part[], type: string): Part {
  return (
    alternatives.find((alternative) => alternative.type === type) ??
    (type === 'integer' ? alternatives.find((alternative) => alternative.type === 'number') : undefined)
  );
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
