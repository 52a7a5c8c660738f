import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOpenApiDocument } from '../../adapters/api/openapi.ts';
import { breakingChanges } from '../support/breaking-changes.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';

const root = join(import.meta.dirname, '../../..');
const text = readFileSync(join(root, 'docs/openapi.json'), 'utf8');
const document = JSON.parse(text);

/** Accepted breaking changes. Each has an entry in CHANGELOG.md. */
const acceptedChanges: readonly string[] = [
  // The pattern of URLs describes more exactly what the service has always accepted.
  ...['POST /campaigns', 'PATCH /campaigns/{id}'].flatMap((operation) =>
    ['destinationUrl', 'image', 'resources, an item', 'resources, an item.url', 'resources, an item.thumbnailUrl'].map(
      (field) => `${operation}, the body.${field}`,
    ),
  ),
  ...['POST /domains, the body.expiredUrl', 'POST /domains, the body.placeholder'],
  ...['expiredUrl', 'notFoundUrl', 'placeholder'].map((field) => `PATCH /domains/{id}, the body.${field}`),
].map((field) => `${field} has a different pattern`);

/** Returns the last two committed versions of the document, newest first. Returns none if there is no git history. */
function readCommittedVersions(): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const commits = git('log', '-2', '--format=%H', '--', 'docs/openapi.json').split('\n').filter(Boolean);
    return commits.map((commit) => git('show', `${commit}:docs/openapi.json`));
  } catch {
    return [];
  }
}

/** Breaking changes to a copy of the document, by the message that each must cause. */
const plantedChanges: Readonly<Record<string, (copy: typeof document) => unknown>> = {
  'PATCH /tags/{id} is missing': ({ paths }) => delete paths['/tags/{id}'].patch,
  'GET /domains, search is missing': ({ paths }) => paths['/domains'].get.parameters.splice(1, 1),
  'GET /domains, search is required': ({ paths }) => {
    paths['/domains'].get.parameters[1].required = true;
  },
  'POST /tags, the body.name has a narrower maxLength': ({ components }) => {
    components.schemas.CreateTag.properties.name.maxLength = 100;
  },
  'POST /groups, the body.description is required': ({ components }) =>
    components.schemas.CreateGroup.required.push('description'),
  'PATCH /content-pillars/{id}, the body.color does not accept red': ({ components }) =>
    components.schemas.UpdateContentPillar.properties.color.enum.shift(),
  'POST /groups, 201.count may be missing': ({ components }) => {
    components.schemas.Group.required = ['id', 'name', 'createdAt'];
  },
  'GET /campaigns, 200, an item.status may be paused': ({ components }) =>
    components.schemas.Campaign.properties.status.enum.push('paused'),
  'GET /domains, 200, an item.slug may be null': ({ components }) => {
    components.schemas.Domain.properties.slug.type = ['string', 'null'];
  },
  'GET /domains/{id}, 200.createdAt may be integer': ({ components }) => {
    components.schemas.Domain.properties.createdAt.type = 'integer';
  },
  'GET /campaigns/{id}, 200.clicks may be number': ({ components }) => {
    components.schemas.Campaign.properties.clicks.type = 'number';
  },
  'POST /campaigns, the body.totalBudget does not accept number': ({ components }) => {
    components.schemas.Amount.anyOf[0].type = 'integer';
  },
  'PATCH /campaigns/{id}, the body.targetShares has a narrower maximum': ({ components }) => {
    components.schemas.WholeNumber.anyOf[0].maximum = 1000;
  },
  'GET /me, 200.member.role is missing': ({ components }) =>
    delete components.schemas.Me.properties.member.anyOf[0].properties.role,
  'GET /domains, pageSize has a different default': ({ paths }) => {
    paths['/domains'].get.parameters.at(-1).schema.default = 25;
  },
  'POST /campaigns, the body.image has a narrower maxLength': ({ components }) => {
    components.schemas.CreateCampaign.properties.image.anyOf[0].maxLength = 255;
  },
  'POST /campaigns, the body.resources, an item.language is missing': ({ components }) =>
    delete components.schemas.CampaignResource.properties.language,
  'GET /campaigns/{id}, 200.hasShared is missing': ({ components }) =>
    delete components.schemas.Campaign.properties.hasShared,
  'PATCH /tags/{id}, 200.color may have any value': ({ components }) =>
    delete components.schemas.Tag.properties.color.enum,
  'GET /campaigns, 200, Link is missing': ({ paths }) => delete paths['/campaigns'].get.responses[200].headers.Link,
  'DELETE /content-pillars/{id}, 429, Retry-After is missing': ({ components }) =>
    delete components.responses.RateLimitExceeded.headers['Retry-After'],
  'DELETE /content-pillars/{id}, 404 is missing': ({ paths }) =>
    delete paths['/content-pillars/{id}'].delete.responses[404],
};

suite('breaking changes of the OpenAPI document', {
  'are absent since the last committed version': () => {
    const before = readCommittedVersions().find((version) => version !== text) ?? text;
    const found = breakingChanges(JSON.parse(before), JSON.parse(JSON.stringify(createOpenApiDocument())));
    assert.deepEqual(
      found.filter((change) => !acceptedChanges.includes(change)),
      [],
    );
  },

  'are found for each kind of change': () =>
    each(plantedChanges, (applyChange, message) => {
      const copy = structuredClone(document);
      applyChange(copy);
      assert.ok(breakingChanges(document, copy).includes(message), breakingChanges(document, copy).join('\n'));
    }),

  'do not include additions and wider limits': () => {
    const copy = structuredClone(document);
    copy.paths['/labels'] = { get: copy.paths['/domains'].get };
    copy.components.schemas.CreateTag.properties.color = { type: 'string' };
    copy.components.schemas.CreateTag.properties.name.maxLength = 200;
    copy.components.schemas.CreateGroup.properties.name.type = ['string', 'null'];
    copy.components.schemas.BriefResource.properties.size.anyOf[0].type = 'integer';
    copy.components.schemas.Tag.properties.createdAt = { type: 'string' };
    assert.deepEqual(breakingChanges(document, copy), []);
  },
});
