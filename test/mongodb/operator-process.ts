import { createMongodbEngine } from '../../adapters/mongodb/engine.ts';
import { createStorage } from '../../adapters/persistence/storage.ts';
import { createNodeSystem } from '../../bootstrap/system.ts';
import { Application } from '../../core/application.ts';
import { CoreError } from '../../core/shared/core-error.ts';

type Action = (app: Application, workspaceId: string, id: string, memberId: string) => Promise<unknown>;

/** The actions of this process. The API does not have them, and the command line would have to start for each of them. */
const actions = {
  click: (app, workspaceId, campaignId) => app.campaigns.recordClicks(workspaceId, campaignId, 1),
  share: (app, workspaceId, campaignId, memberId) => app.campaigns.recordShare(workspaceId, campaignId, memberId),
  verify: (app, workspaceId, domainId) => app.domains.verify(workspaceId, domainId),
} satisfies Record<string, Action>;

export type ActionRequest = readonly [action: keyof typeof actions, workspaceId: string, id: string, memberId?: string];

/** `done`, the kind of a `CoreError`, or the message of another error. */
type Outcome = string;

export interface RequestMessage {
  readonly number: number;
  readonly request: ActionRequest;
}

export interface ResponseMessage {
  readonly number: number;
  readonly outcome: Outcome;
}

const { engine, connection } = createMongodbEngine(process.argv[2] as string, () => undefined);
const app = new Application(createStorage(engine), createNodeSystem());

async function runAction([action, workspaceId, id, memberId = '']: ActionRequest): Promise<Outcome> {
  try {
    await (actions[action] as Action)(app, workspaceId, id, memberId);
    return 'done';
  } catch (error) {
    return error instanceof CoreError ? error.kind : String(error);
  }
}

process.on('message', async ({ number, request }: RequestMessage) => {
  const response: ResponseMessage = { number, outcome: await runAction(request) };
  process.send?.(response);
});
process.on('disconnect', () => connection.close());
