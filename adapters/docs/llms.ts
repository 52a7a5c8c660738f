import { operations } from '../api/operations.ts';
import { ERRORS_PAGE, guides, REFERENCE_PAGE } from './pages.ts';

/** Returns `/llms.txt`: the list of the documentation for language models, in the format of llmstxt.org. */
export function renderLlmsText(): string {
  const listItems = operations.map(
    ({ id, summary, method, path }) => `- [${summary}](${REFERENCE_PAGE.path}#${id}): \`${method} ${path}\``,
  );
  return `# Workspace Advocacy API

> An HTTP API for employee advocacy: companies publish campaigns, and their employees share them. JSON over HTTP, with an API key as bearer token.

All paths are relative to the server that serves this file.

## Documentation

${guides.map(({ title, path, description }) => `- [${title}](${path}): ${description}`).join('\n')}
- [${ERRORS_PAGE.title}](${ERRORS_PAGE.path}): The causes of each error code, and what to do. \`doc_url\` of an error leads to its cause.
- [${REFERENCE_PAGE.title}](${REFERENCE_PAGE.path}): All operations, with samples. This page can send requests.
- [Model Context Protocol](/docs/clients#agents): \`POST /mcp\` offers the operations as tools, except those that return a secret, with the same API key.
- [OpenAPI document](/openapi.json): All operations and schemas, in OpenAPI 3.1.

## Operations

${listItems.join('\n')}
`;
}
