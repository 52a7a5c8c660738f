import type { Member } from '../../core/access/member.ts';
import type { NewMember } from '../../core/access/member-service.ts';
import type { Campaign } from '../../core/campaign/campaign.ts';
import { type Api, type ApiResponse, type ServiceOptions, withService } from './service.ts';

/** A workspace that holds nothing but its admin and the admin's key. */
export interface Fixture {
  readonly workspaceId: string;
  readonly admin: Member;
  readonly key: string;
  /** Calls with the admin's key; what is given as `body` is sent. */
  call(method: string, path: string, body?: unknown): Promise<ApiResponse>;
  addMember(member?: Partial<NewMember>): Promise<Member>;
  /** Makes a key of a member, or of none. */
  addKey(memberId?: string): Promise<string>;
}

/** Serves while a test works in an empty workspace. */
export function withFixture(
  test: (world: Fixture, api: Api) => Promise<void>,
  options?: ServiceOptions,
): Promise<void> {
  return withService(async (api) => test(await createFixture(api), api), options);
}

/** Makes one more workspace in a service. */
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

/** A campaign with all that no read of the API returns. */
export async function storedCampaign({ app }: Api, { workspaceId }: Fixture, id: string): Promise<Campaign> {
  for await (const campaign of app.campaigns.iterate(workspaceId)) if (campaign.id === id) return campaign;
  throw new Error(`There is no campaign ${id}.`);
}
