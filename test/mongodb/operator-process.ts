import { mongodbStorage } from '../../adapters/mongodb/storage.ts';
import { createNodeSystem } from '../../bootstrap/system.ts';
import { Application } from '../../core/application.ts';
import { CoreError } from '../../core/shared/core-error.ts';

type Act = (app: Application, workspaceId: string, id: string, memberId: string) => Promise<unknown>;

/** What no operation of the API does, and the command line would need a start for each time. */
const acts = {
  click: (app, workspaceId, campaignId) => app.campaigns.recordClicks(workspaceId, campaignId, 1),
  share: (app, workspaceId, campaignId, memberId) => app.campaigns.recordShare(workspaceId, campaignId, memberId),
  verify: (app, workspaceId, domainId) => app.domains.verify(workspaceId, domainId),
} satisfies Record<string, Act>;

export type Order = readonly [act: keyof typeof acts, workspaceId: string, id: string, memberId?: string];

/** What came of it: `done`, the kind of a refusal, or the message of a failure. */
type Outcome = string;

export interface Asked {
  readonly number: number;
  readonly order: Order;
}

export interface Answered {
  readonly number: number;
  readonly outcome: Outcome;
}

const { storage, connection } = mongodbStorage(process.argv[2] as string, () => undefined);
const app = new Application(storage, createNodeSystem());

async function outcomeOf([act, workspaceId, id, memberId = '']: Order): Promise<Outcome> {
  try {
    await (acts[act] as Act)(app, workspaceId, id, memberId);
    return 'done';
  } catch (error) {
    return error instanceof CoreError ? error.kind : String(error);
  }
}

process.on('message', async ({ number, order }: Asked) => {
  const answered: Answered = { number, outcome: await outcomeOf(order) };
  process.send?.(answered);
});
process.on('disconnect', () => connection.close());
