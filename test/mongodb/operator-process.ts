import { mongodbStorage } from '../../adapters/mongodb/storage.ts';
import { nodeSystem } from '../../bootstrap/system.ts';
import { Application } from '../../core/application.ts';
import { DomainError } from '../../core/shared/error.ts';

type Act = (use: Application, workspaceId: string, id: string, memberId: string) => Promise<unknown>;

/** What no operation of the API does, and the command line would need a start for each time. */
const acts = {
  click: (use, workspaceId, campaignId) => use.campaigns.recordClicks(workspaceId, campaignId, 1),
  share: (use, workspaceId, campaignId, memberId) => use.campaigns.recordShare(workspaceId, campaignId, memberId),
  verify: (use, workspaceId, domainId) => use.domains.verify(workspaceId, domainId),
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
const use = new Application(storage, nodeSystem());

async function outcomeOf([act, workspaceId, id, memberId = '']: Order): Promise<Outcome> {
  try {
    await (acts[act] as Act)(use, workspaceId, id, memberId);
    return 'done';
  } catch (error) {
    return error instanceof DomainError ? error.kind : String(error);
  }
}

process.on('message', async ({ number, order }: Asked) => {
  const answered: Answered = { number, outcome: await outcomeOf(order) };
  process.send?.(answered);
});
process.on('disconnect', () => connection.close());
