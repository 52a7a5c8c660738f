import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '../../adapters/api/version.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';
import { breakingChanges } from './breaking-changes.ts';

const docs = join(import.meta.dirname, '../../../docs');
const readDocument = (file: string) => JSON.parse(readFileSync(join(docs, file), 'utf8'));
const document = readDocument('openapi.json');

/** The documents of the released versions, which never change. */
const releasedDocuments = readdirSync(join(docs, 'openapi')).map((file) => readDocument(`openapi/${file}`));

/**
 * Accepted breaking changes since the released versions, with the reason why each cannot break a client that works.
 * Each has an entry in CHANGELOG.md.
 */
const acceptedChanges: Readonly<Record<string, string>> = {};

/** Returns the part of a version that all compatible versions have in common: `0.1` of 0.1.2, and `1` of 1.1.2. */
function getCompatibleRange(releasedVersion: string): string {
  const numbers = releasedVersion.split('.');
  return numbers.slice(0, numbers[0] === '0' ? 2 : 1).join('.');
}

/** Breaking changes to a copy of the document, by the message that each must cause. */
const plantedChanges: Readonly<Record<string, (copy: typeof document) => unknown>> = {
  'PATCH /tags/{id} is missing': ({ paths }) => delete paths['/tags/{id}'].patch,
  'GET /domains, search is required': ({ paths }) => {
    paths['/domains'].get.parameters[1].required = true;
  },
  'POST /tags, the body.name has a narrower maxLength': ({ components }) => {
    components.schemas.CreateTag.properties.name.maxLength = 100;
  },
  'PATCH /content-pillars/{id}, the body.color does not accept red': ({ components }) =>
    components.schemas.UpdateContentPillar.properties.color.enum.shift(),
  'POST /groups, 201.count may be missing': ({ components }) => {
    components.schemas.Group.required = ['id', 'name', 'createdAt'];
  },
  'GET /campaigns, 200, an item.status may be paused': ({ components }) =>
    components.schemas.Campaign.properties.status.enum.push('paused'),
  'GET /campaigns/{id}, 200.clicks may be number': ({ components }) => {
    components.schemas.Campaign.properties.clicks.type = 'number';
  },
  'GET /me, 200.member.role is missing': ({ components }) =>
    delete components.schemas.Me.properties.member.anyOf[0].properties.role,
  'GET /domains, pageSize has a different default': ({ paths }) => {
    paths['/domains'].get.parameters.at(-1).schema.default = 25;
  },
  'PATCH /tags/{id}, 200.color may have any value': ({ components }) =>
    delete components.schemas.Tag.properties.color.enum,
  'GET /campaigns, 200, Link is missing': ({ paths }) => delete paths['/campaigns'].get.responses[200].headers.Link,
  'POST /tags may return 200': ({ paths }) => {
    paths['/tags'].post.responses[200] = paths['/tags'].post.responses[201];
  },
  'DELETE /content-pillars/{id}, 404 is missing': ({ paths }) =>
    delete paths['/content-pillars/{id}'].delete.responses[404],
};

suite('breaking changes of the OpenAPI document', {
  'since a compatible released version are listed in `acceptedChanges`': () => {
    const compatible = releasedDocuments.filter(
      ({ info }) => getCompatibleRange(info.version) === getCompatibleRange(version),
    );
    assert.ok(compatible.length > 0);
    const found = compatible.flatMap((released) => breakingChanges(released, document));
    assert.deepEqual([...new Set(found)].toSorted(), Object.keys(acceptedChanges).toSorted());
    for (const reason of Object.values(acceptedChanges)) assert.match(reason, /\.$/);
  },

  'can be found in later versions, because docs/openapi has the document of this version': () => {
    const released = readdirSync(join(docs, 'openapi'));
    assert.deepEqual(
      releasedDocuments.map(({ info }) => `${info.version}.json`),
      released,
    );
    assert.ok(
      released.includes(`${version}.json`),
      `docs/openapi/${version}.json is missing (CONTRIBUTING.md, Release a version)`,
    );
  },

  'are found in copies of the document that have one of `plantedChanges`': () =>
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
