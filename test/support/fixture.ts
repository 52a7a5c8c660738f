import type { Member, NewMember } from '../../core/access/member.ts';
import type { Campaign } from '../../core/campaign/campaign.ts';
import { type Api, type ApiResponse, type ServiceOptions, withService } from './service.ts';

/** A workspace with an admin and the admin's key. */
export interface Fixture {
  readonly workspaceId: string;
  readonly admin: Member;
  readonly key: string;
  /** Sends a request with the admin's key. */
  call(method: string, path: string, body?: unknown): Promise<ApiResponse>;
  addMember(member?: Partial<NewMember>): Promise<Member>;
  /** Creates a key of a member, or of no member. */
  addKey(memberId?: string): Promise<string>;
}

/** Starts a service with an empty workspace for the time of a test. */
export function withFixture(
  test: (fixture: Fixture, api: Api) => Promise<void>,
  options?: ServiceOptions,
): Promise<void> {
  return withService(async (api) => test(await createFixture(api), api), options);
}

/** Creates another workspace in a service. */
export async function createFixture({ app, call }: Api): Promise<Fixture> {
  const { id: workspaceId } = await app.workspaces.create('Contoso');
  const addMember = (member: Partial<NewMember> = {}) =>
    app.members.create(workspaceId, { name: 'Kim', email: 'kim@contoso.example', ...member });
  const addKey = async (memberId?: string) =>
    (await app.apiKeys.create(workspaceId, memberId === undefined ? {} : { memberId })).secret;
  const admin = await addMember({ role: 'admin' });
  const key = await addKey(admin.id);
  return {
    workspaceId,
    admin,
    key,
    addMember,
    addKey,
    call: (method, path, body) => call(method, path, { key, body }),
  };
}

/** Returns a campaign as it is stored, with the fields that the API does not return. */
export async function storedCampaign({ app }: Api, { workspaceId }: Fixture, id: string): Promise<Campaign> {
  for await (const campaign of app.campaigns.iterate(workspaceId)) if (campaign.id === id) return campaign;
  throw new Error(`unknown campaign: ${id}`);
}
