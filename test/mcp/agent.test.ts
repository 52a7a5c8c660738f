import assert from 'node:assert/strict';
import type { Client, Tool } from '@modelcontextprotocol/client';
import { each } from '../support/each.ts';
import { generations, toToolResult, withMcpClient } from '../support/mcp.ts';
import { withProcess } from '../support/process.ts';
import { DEMO_API_KEY } from '../support/request.ts';
import { suite } from '../support/suite.ts';

/** A JSON Schema, as far as the agent reads it. */
interface Schema {
  readonly type?: string;
  readonly anyOf?: readonly Schema[];
  readonly $ref?: string;
  readonly enum?: readonly string[];
  readonly examples?: readonly unknown[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly $defs?: Readonly<Record<string, Schema>>;
}

const DAY_MS = 86_400_000;
const toDay = (time: number) => new Date(time).toISOString().slice(0, 10);

/** The values that the agent chooses for fields whose descriptions have these words. */
const wishes: readonly (readonly [words: RegExp, value: unknown])[] = [
  [/^The start\b/, toDay(Date.now() - DAY_MS)],
  [/^The end\b/, toDay(Date.now() + 30 * DAY_MS)],
  [/target of the short link/, 'https://example.com/launch'],
  [/\bbudget\b|maximum total reward/, 100],
  [/^The reward\b/, '1.50'],
  [/^The name\b/, 'Launch of the year'],
];

/**
 * An agent without a model. It knows the purpose of a tool and the meaning of a field only from the texts of
 * `tools/list`, and reads results as JSON.
 */
class Agent {
  constructor(
    private readonly client: Client,
    private readonly tools: readonly Tool[],
  ) {}

  /** Calls the tool whose first sentence is `purpose`, with the required fields and those of `given`. */
  async use(purpose: string, given: Readonly<Record<string, unknown>> = {}): Promise<Record<string, unknown>> {
    const found = this.tools.filter(({ description }) => description?.startsWith(`${purpose}. `));
    assert.equal(found.length, 1, `tools with the purpose "${purpose}": ${found.map(({ name }) => name)}`);
    const { name, inputSchema } = found[0] as Tool;
    const schema = inputSchema as Schema;
    const required = (schema.required ?? []).filter((field) => !(field in given));
    const values = required.map((field) => [field, choose(schema.properties?.[field] as Schema, schema)]);
    const result = await this.client.callTool({ name, arguments: { ...Object.fromEntries(values), ...given } });
    const { texts, isError } = toToolResult(result as never);
    assert.ok(!isError, `${name}: ${texts}`);
    return JSON.parse(texts[0] as string);
  }
}

/** Returns a value for a field, from its schema and its description. */
function choose(field: Schema, root: Schema): unknown {
  const wish = wishes.find(([words]) => words.test(field.description ?? ''));
  if (wish) return wish[1];
  if (field.$ref) return choose(root.$defs?.[field.$ref.replace('#/$defs/', '')] as Schema, root);
  if (field.anyOf) return choose(field.anyOf[0] as Schema, root);
  return field.enum?.[0] ?? field.examples?.[0] ?? { string: '', number: 1, integer: 1 }[field.type ?? ''] ?? [];
}

suite('an agent', {
  'publishes and shares a campaign with what the tools say of themselves': () =>
    withProcess({}, ({ url }) =>
      each(generations, (negotiation) =>
        withMcpClient({ url, key: DEMO_API_KEY }, negotiation, async (client) => {
          const { tools } = await client.listTools();
          const agent = new Agent(client, tools);
          const tag = await agent.use('Create a tag', { name: `Launch ${client.getNegotiatedProtocolVersion()}` });
          const draft = await agent.use('Create a campaign', { tagIds: [tag.id] });
          assert.equal(draft.status, 'draft');
          const published = await agent.use('Update a campaign', { id: draft.id, status: 'published' });
          assert.equal(published.status, 'published');
          const share = await agent.use('Share a campaign', { id: draft.id });
          assert.equal(share.campaignId, draft.id);
          const campaign = await agent.use('Retrieve a campaign', { id: draft.id });
          assert.deepEqual([campaign.status, campaign.shares, campaign.hasShared], ['published', 1, true]);
        }),
      ),
    ),
});
