import { z } from 'zod';
import { LOOKUP_LIMITS, MAX_DOMAIN_PAGE_SIZE, MAX_SLUG_LENGTH, URL_LENGTH } from '../../core/limits.ts';
import * as field from './fields.ts';
import { defineOperation } from './operation.ts';
import { describeResource, UPDATE } from './record-operations.ts';

const domainResponse = z
  .object({
    id: field.recordId,
    slug: field
      .responseText({ max: MAX_SLUG_LENGTH })
      .describe('The domain name, in lower case and in its ASCII form.'),
    verified: z
      .boolean()
      .describe(
        'Whether a DNS record or the operator of the service has shown that the domain belongs to the workspace. Short links use only verified domains.',
      ),
    primary: z
      .boolean()
      .describe(
        'Whether this is the primary domain of the workspace: the domain that has been live (not archived) for the longest time. This time starts when a domain is created or unarchived.',
      ),
    archived: z.boolean().describe('Whether the domain is archived.'),
    placeholder: field
      .responseText(URL_LENGTH)
      .describe('An example link that your product can show, or an empty string. The service only stores it.'),
    expiredUrl: field.responseText(URL_LENGTH).describe('The redirect target for expired links, or an empty string.'),
    notFoundUrl: field.responseText(URL_LENGTH).describe('The redirect target for unknown links, or an empty string.'),
    createdAt: field.createdAt,
    updatedAt: field.updatedAt,
  })
  .meta({ id: 'Domain', description: 'A custom domain for short links.' });

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

const domains = describeResource('domain', '/domains', domainResponse, example, MAX_DOMAIN_PAGE_SIZE);

const SLUG_TAKEN =
  'A domain that another workspace has verified and not archived cannot be created or unarchived (409).';
const EXPIRED_URL = 'The redirect target for expired links: an http or https URL, or an empty string for none.';
const PLACEHOLDER =
  'An example link that your product can show: an http or https URL, or an empty string. The service only stores it.';

export const createDomain = defineOperation({
  ...domains.create,
  summary: 'Create or archive a domain',
  description: [
    'Creates a domain (201), or archives or unarchives the domain that has this slug (200).',
    'If the workspace already has the domain, the request must have `archived` (409 otherwise).',
    'The other fields of the request are updated, too.',
    SLUG_TAKEN,
  ],
  body: z
    .strictObject({
      slug: field.slug.describe(
        'The domain name, without a scheme, port, path or leading `www.`. International names are converted to their ASCII form.',
      ),
      expiredUrl: field.httpUrlOrEmpty.optional().describe(`${EXPIRED_URL} Default for a new domain: empty.`),
      archived: z
        .boolean()
        .optional()
        .describe(
          '`true` archives the domain with this slug, `false` unarchives it. Default for a new domain: `false`.',
        ),
      placeholder: field.httpUrlOrEmpty
        .optional()
        .describe(`${PLACEHOLDER} Default for a new domain: \`https://SLUG/your-link\`.`),
    })
    .meta({ id: 'CreateDomain', description: 'A domain to create, archive or unarchive.' }),
  statuses: [200, 201],
  example: { body: { slug: example.slug, expiredUrl: example.expiredUrl }, response: example },
  run: async (app, { caller, body }) => {
    const { domain, created } = await app.domains.createOrArchive(caller.workspaceId, body);
    return { ...domain, isNew: created };
  },
});

const listDomains = defineOperation({
  ...domains.list,
  columns: ['id', 'slug', 'verified', 'primary', 'archived'],
  description: [
    'Returns the domains that match all filters, newest first.',
    'Archived domains are omitted by default.',
  ],
  query: z.strictObject({
    includeArchived: field.booleanParameter.default(false).describe('Whether to include archived domains.'),
    search: field.searchParameter.describe('Case-insensitive search in the slug (its ASCII and its Unicode form).'),
    ...field.pageParameters(MAX_DOMAIN_PAGE_SIZE, MAX_DOMAIN_PAGE_SIZE),
  }),
  run: (app, { caller, query }) => app.domains.list(caller.workspaceId, query),
});

const getDomain = defineOperation({
  ...domains.get,
  description: [...domains.get.description, 'Archived domains are returned, too.'],
  run: (app, { caller, params }) => app.domains.get(caller.workspaceId, params.id),
});

const updateDomain = defineOperation({
  ...domains.update,
  description: [...UPDATE, SLUG_TAKEN],
  body: z
    .strictObject({
      expiredUrl: field.httpUrlOrEmpty.describe(EXPIRED_URL),
      notFoundUrl: field.httpUrlOrEmpty.describe(
        'The redirect target for unknown links: an http or https URL, or an empty string for none.',
      ),
      placeholder: field.httpUrlOrEmpty.describe(PLACEHOLDER),
      archived: z.boolean().describe('`true` archives the domain, `false` unarchives it.'),
    })
    .partial()
    .meta({ id: 'UpdateDomain', description: 'The fields of a domain to update.' }),
  example: {
    body: { notFoundUrl: 'https://example.com/not-found' },
    response: { ...example, notFoundUrl: 'https://example.com/not-found', updatedAt: '2026-05-21T10:00:00.000Z' },
  },
  run: (app, { caller, params, body }) => app.domains.update(caller.workspaceId, params.id, body),
});

const verificationResponse = z
  .object({
    domainId: field.recordId.describe('The ID of the domain.'),
    verified: z.boolean().describe('Whether the domain is verified.'),
    record: z
      .object({
        type: z.literal('TXT').describe('The type of the record.'),
        name: field.responseText({ max: 255 }).describe('The full name of the record.'),
        value: field.recordId.describe('The text of the record: the ID of the domain.'),
      })
      .describe('The DNS record that verifies the domain.'),
    problem: field
      .responseText({ max: 1000 })
      .describe(
        'A sentence that says why the lookup of this request did not verify the domain. Otherwise an empty string.',
      ),
  })
  .meta({
    id: 'DomainVerification',
    description: 'Whether a domain is verified, and the DNS record that verifies it.',
  });

const verificationExample = {
  domainId: example.id,
  verified: false,
  record: { type: 'TXT', name: `_advocacy-challenge.${example.slug}`, value: example.id },
  problem: '',
} as const;

const getDomainVerification = defineOperation({
  id: 'getDomainVerification',
  method: 'GET',
  path: '/domains/{id}/verification',
  command: 'domain verification',
  summary: 'Retrieve a domain verification',
  description: [
    'Returns whether the domain is verified, and the DNS record that verifies it.',
    'No name server is asked, so `problem` is empty.',
    'The domain may be archived.',
  ],
  response: verificationResponse,
  example: { response: verificationExample },
  run: (app, { caller, params }) => app.domains.getVerification(caller.workspaceId, params.id),
});

const verifyDomain = defineOperation({
  id: 'verifyDomain',
  method: 'POST',
  path: '/domains/{id}/verification',
  command: 'domain verify',
  summary: 'Verify a domain',
  description: [
    'Looks up the TXT record of the domain, and marks the domain as verified if its value is the ID of the domain.',
    'The value is compared case-insensitively, and spaces and quotes around it are ignored.',
    'If no record matches, `verified` is `false`, and `problem` says how many TXT records were found, but not their values.',
    `If no name server answers, the response takes up to ${LOOKUP_LIMITS.timeoutMs / 1_000} seconds.`,
    `If many domains are being verified, it takes up to ${LOOKUP_LIMITS.maxWaitMs / 1_000} seconds longer.`,
    'A verified domain stays verified, and is not looked up again.',
    'An archived domain cannot be verified (409).',
    'A domain that another workspace has verified and not archived cannot be verified, either (409).',
    'If too many domains are being verified, the request is rejected (429).',
  ],
  statuses: [200],
  externalTimeoutMs: LOOKUP_LIMITS.maxWaitMs + LOOKUP_LIMITS.timeoutMs,
  response: verificationResponse,
  example: {
    response: {
      ...verificationExample,
      problem: `There is no TXT record at ${verificationExample.record.name}. Create the record, or wait until the name servers show it.`,
    },
  },
  run: (app, { caller, params }) => app.domains.verify(caller.workspaceId, params.id),
});

export const domainOperations = [
  createDomain,
  listDomains,
  getDomain,
  updateDomain,
  getDomainVerification,
  verifyDomain,
];
