import type { Application } from '../../core/application.ts';

/** Returns all campaigns of a workspace, newest first. */
export async function listCampaigns({ campaigns }: Pick<Application, 'campaigns'>, workspaceId: string) {
  const query = { includeArchived: true, sortBy: 'createdAt', page: 1, pageSize: 100_000 } as const;
  return (await campaigns.list({ workspaceId }, query)).items;
}
