import { request } from './request.ts';

/** Shares a published campaign of the demo workspace. Returns the host and the path of its link. */
export async function shareDemoCampaign(url: string) {
  const { json: campaigns } = await request(`${url}/campaigns?filter=active`, 'GET');
  const { id } = campaigns.find(({ status }: { status: string }) => status === 'published');
  const { hostname, pathname } = new URL((await request(`${url}/campaigns/${id}/shares`, 'POST')).json.link);
  return { host: hostname, path: pathname };
}
