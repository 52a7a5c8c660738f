// biome-ignore lint/suspicious/noExplicitAny: parts of a document, whose shape is looked for here
type Part = any;

const METHODS = ['get', 'post', 'patch', 'delete'];
/** Bounds of what is sent, and which of two is the narrower. */
const bounds: Readonly<Record<string, (before: number, after: number) => boolean>> = {
  maxLength: (before, after) => after < before,
  maxItems: (before, after) => after < before,
  maximum: (before, after) => after < before,
  minLength: (before, after) => after > before,
  minimum: (before, after) => after > before,
};

/** What of a document its callers could rely on before, and cannot any more. */
export function breakingChanges(before: Part, after: Part): string[] {
  const found: string[] = [];
  for (const [path, methods] of Object.entries<Part>(before.paths)) {
    for (const method of METHODS.filter((name) => name in methods)) {
      const what = `${method.toUpperCase()} ${path}`;
      const [old, now] = [methods[method], after.paths[path]?.[method]];
      if (!now) found.push(`${what} is gone`);
      else compareOperations(old, now, what);
    }
  }
  return found;

  function compareOperations(old: Part, now: Part, what: string): void {
    if (old.operationId !== now.operationId) found.push(`${what} has another operationId`);
    const [oldParameters, parameters] = [byName(old, before), byName(now, after)];
    for (const [name, { schema }] of oldParameters) {
      const parameter = parameters.get(name);
      if (!parameter) found.push(`${what}, ${name} is gone`);
      else compareSent(schema, parameter.schema, `${what}, ${name}`);
    }
    for (const [name, { required }] of parameters) {
      if (required && !oldParameters.get(name)?.required) found.push(`${what}, ${name} is required`);
    }
    compareSent(schemaOf(old.requestBody), schemaOf(now.requestBody), `${what}, the body`);
    for (const [status, response] of Object.entries<Part>(old.responses)) {
      const answer = now.responses[status];
      if (!answer) {
        found.push(`${what}, ${status} is gone`);
        continue;
      }
      compareAnswered(contentOf(response, before), contentOf(answer, after), `${what}, ${status}`);
      const headers = resolved(answer, after).headers ?? {};
      for (const name of Object.keys(resolved(response, before).headers ?? {})) {
        if (!(name in headers)) found.push(`${what}, ${status}, ${name} is gone`);
      }
    }
  }

  /** What could be sent can be sent still. */
  function compareSent(oldSchema: Part, nowSchema: Part, what: string): void {
    const [old, now] = [resolved(oldSchema, before), resolved(nowSchema, after)];
    if (!old || !now) {
      if (old || now?.required) found.push(`${what} is another`);
      return;
    }
    for (const type of typesOf(old)) if (!typesOf(now).includes(type)) found.push(`${what} takes no ${type}`);
    for (const value of old.enum ?? []) if (!now.enum?.includes(value)) found.push(`${what} does not take ${value}`);
    if (!old.enum && now.enum) found.push(`${what} takes some values only`);
    if (now.default !== old.default) found.push(`${what} has another default`);
    if (now.pattern !== undefined && now.pattern !== old.pattern) found.push(`${what} has another pattern`);
    for (const [name, isNarrower] of Object.entries(bounds)) {
      if (now[name] !== undefined && (old[name] === undefined || isNarrower(old[name], now[name]))) {
        found.push(`${what} has a narrower ${name}`);
      }
    }
    for (const [name, field] of Object.entries(old.properties ?? {})) {
      if (name in (now.properties ?? {})) compareSent(field, now.properties[name], `${what}.${name}`);
      else found.push(`${what}.${name} is gone`);
    }
    for (const name of now.required ?? []) if (!old.required?.includes(name)) found.push(`${what}.${name} is required`);
    if (old.items) compareSent(old.items, now.items, `${what}, an item`);
    for (const one of old.anyOf ?? []) {
      const same = alternativeOf(now, one);
      if (same) compareSent(one, same, what);
    }
  }

  /** What was answered is answered still, and nothing that was not expected. */
  function compareAnswered(oldSchema: Part, nowSchema: Part, what: string): void {
    const [old, now] = [resolved(oldSchema, before), resolved(nowSchema, after)];
    for (const type of typesOf(now)) if (!typesOf(old).includes(type)) found.push(`${what} may be ${type}`);
    if (old?.enum && !now?.enum) found.push(`${what} may be anything`);
    for (const value of now?.enum ?? []) if (!old?.enum?.includes(value)) found.push(`${what} may be ${value}`);
    for (const name of old?.required ?? []) {
      if (!now?.required?.includes(name)) found.push(`${what}.${name} may be missing`);
    }
    for (const [name, field] of Object.entries(old?.properties ?? {})) {
      if (now?.properties?.[name]) compareAnswered(field, now.properties[name], `${what}.${name}`);
      else found.push(`${what}.${name} is gone`);
    }
    if (old?.items) compareAnswered(old.items, now?.items, `${what}, an item`);
  }
}

function resolved(part: Part, document: Part): Part {
  if (!part?.$ref) return part;
  return part.$ref
    .slice(2)
    .split('/')
    .reduce((value: Part, name: string) => value?.[name], document);
}

function byName(operation: Part, document: Part): Map<string, Part> {
  return new Map(
    (operation.parameters ?? []).map((part: Part) => resolved(part, document)).map((part: Part) => [part.name, part]),
  );
}

const schemaOf = (body: Part): Part => body?.content['application/json'].schema;
const contentOf = (response: Part, document: Part): Part => schemaOf(resolved(response, document));

/** The alternative of a schema that has the type of another one's; what has none is left to the comparison of types. */
function alternativeOf({ anyOf = [] }: Part, one: Part): Part {
  return anyOf.find((other: Part) => other.$ref === one.$ref && String(other.type) === String(one.type));
}

function typesOf(schema: Part): string[] {
  const alternatives = (schema?.anyOf ?? []).flatMap((one: Part) => (one.$ref ? ['object'] : typesOf(one)));
  return [...[schema?.type ?? []].flat(), ...alternatives];
}
