import { z } from 'zod';
import { PAGE_SIZES } from '../../core/shared/page.ts';
import { flag, httpUrlOrEmpty, pageFields, search, slug } from './fields.ts';
import { listed, operation } from './operation.ts';

const domainReply = z.object({
  id: z.string(),
  slug: z.string(),
  verified: z.boolean(),
  primary: z.boolean(),
  archived: z.boolean(),
  placeholder: z.string(),
  expiredUrl: z.string(),
  notFoundUrl: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
});

export const createDomain = operation({
  id: 'createDomain',
  method: 'POST',
  path: '/domains',
  permission: 'write',
  body: z.strictObject({
    slug,
    expiredUrl: httpUrlOrEmpty.optional(),
    archived: z.boolean().optional(),
    placeholder: httpUrlOrEmpty.optional(),
  }),
  statuses: [200, 201],
  reply: domainReply,
  run: async (use, { caller, body }) => {
    const { domain, created } = await use.domains.createOrArchive(caller.workspaceId, body);
    return { status: created ? 201 : 200, body: domain };
  },
});

export const listDomains = operation({
  id: 'listDomains',
  method: 'GET',
  path: '/domains',
  permission: 'read',
  query: z.strictObject({
    includeArchived: flag.default(false),
    search,
    ...pageFields(PAGE_SIZES.domains, PAGE_SIZES.domains),
  }),
  statuses: [200],
  reply: z.array(domainReply),
  run: async (use, { caller, query }) => listed(await use.domains.list(caller.workspaceId, query)),
});
