import { z } from 'zod';
import { MAX_SLUG_LENGTH } from '../../core/domain/domain.ts';
import { PAGE_SIZES } from '../../core/shared/page.ts';
import { URL_TEXT } from '../../core/shared/text.ts';
import {
  booleanParameter,
  createdAt,
  httpUrlOrEmpty,
  pageParameters,
  recordId,
  responseText,
  searchParameter,
  slug,
  updatedAt,
} from './fields.ts';
import { defineOperation, respondPage } from './operation.ts';

const domainResponse = z
  .object({
    id: recordId,
    slug: responseText({ max: MAX_SLUG_LENGTH }).describe('The domain name, in lower case and ASCII.'),
    verified: z.boolean().describe('Whether it was proved that it is yours.'),
    primary: z.boolean().describe('Whether it is the live domain that the workspace has had longest.'),
    archived: z.boolean(),
    placeholder: responseText(URL_TEXT).describe('An example link, shown where links are made.'),
    expiredUrl: responseText(URL_TEXT).describe('Where expired links lead; empty for nowhere.'),
    notFoundUrl: responseText(URL_TEXT).describe('Where unknown links lead; empty for nowhere.'),
    createdAt,
    updatedAt,
  })
  .meta({ id: 'Domain', description: 'A custom domain for short links.' });

/** As the examples of the document show it. */
const example = {
  id: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e03',
  slug: 'links.example.com',
  verified: false,
  primary: true,
  archived: false,
  placeholder: 'https://links.example.com/your-link',
  expiredUrl: 'https://example.com/expired',
  notFoundUrl: '',
  createdAt: '2026-05-20T08:15:00.000Z',
  updatedAt: '2026-05-20T08:15:00.000Z',
};

export const createDomain = defineOperation({
  id: 'createDomain',
  method: 'POST',
  path: '/domains',
  permission: 'write',
  summary: 'Create, archive or unarchive a domain',
  description:
    'A new slug makes a domain (201). With `archived`, a slug that the workspace has is archived or unarchived, and the other fields sent along are taken over (200); without it, that is a conflict (409), as is a slug that another workspace has verified.',
  body: z
    .strictObject({
      slug: slug.describe('The domain name, without scheme, port, path or leading `www.`.'),
      expiredUrl: httpUrlOrEmpty.optional().describe('Where expired links lead: an http(s) URL, or empty for nowhere.'),
      archived: z.boolean().optional().describe('`false` unarchives the domain of this slug, `true` archives it.'),
      placeholder: httpUrlOrEmpty
        .optional()
        .describe('An example link; `https://SLUG/your-link` where it is left out.'),
    })
    .meta({ id: 'NewDomain', description: 'A domain to create, archive or unarchive.' }),
  statuses: [200, 201],
  response: domainResponse,
  example: { body: { slug: example.slug, expiredUrl: example.expiredUrl }, response: example },
  run: async (app, { caller, body }) => {
    const { domain, created } = await app.domains.createOrArchive(caller.workspaceId, body);
    return { status: created ? 201 : 200, body: domain };
  },
});

export const listDomains = defineOperation({
  id: 'listDomains',
  method: 'GET',
  path: '/domains',
  permission: 'read',
  summary: 'List domains',
  description: 'Newest first. `Link` leads to the next and the previous page.',
  query: z.strictObject({
    includeArchived: booleanParameter.default(false).describe('Archived domains too.'),
    search: searchParameter.describe('Found in the slug, whatever the case.'),
    ...pageParameters(PAGE_SIZES.domains, PAGE_SIZES.domains),
  }),
  statuses: [200],
  response: z.array(domainResponse).max(PAGE_SIZES.domains),
  example: { response: [example] },
  run: async (app, { caller, query }) => respondPage(await app.domains.list(caller.workspaceId, query)),
});
