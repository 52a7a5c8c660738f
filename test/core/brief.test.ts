import assert from 'node:assert/strict';
import { toBrief } from '../../core/campaign/brief.ts';
import { newCampaign } from '../../core/campaign/campaign.ts';
import { newGroup } from '../../core/group/group.ts';
import { newTag } from '../../core/tag/tag.ts';
import { NOON, OWN } from '../support/core.ts';
import { suite } from '../support/suite.ts';
import { createCampaignFields } from '../support/tenants.ts';

const NO_REFERENCES = { tags: [], groups: [], contentPillar: undefined };

suite('the brief of a campaign', {
  'lists tags and groups in the order of `tagIds` and `groupIds`, and omits deleted tags and groups': () => {
    const tags = ['a', 'b', 'c'].map((id) => newTag(OWN, id, id, 'red', NOON));
    const groups = ['g', 'h'].map((id) => newGroup(OWN, id, { name: id }, NOON));
    const fields = { ...createCampaignFields(), tagIds: ['c', 'gone', 'a'], groupIds: ['h', 'gone', 'g'] };
    const brief = toBrief(newCampaign(OWN, 'id', null, fields, NOON), { tags, groups, contentPillar: undefined });
    assert.deepEqual(
      [brief.tags, brief.groups].map((records) => records.map(({ id }) => id)),
      [
        ['c', 'a'],
        ['h', 'g'],
      ],
    );
    assert.deepEqual([brief.campaignId, brief.contentPillar], ['id', null]);
  },

  'has resources with all nine fields, also if a value is absent or zero': () => {
    const absent = { mimeType: null, height: null, thumbnailUrl: null, language: null, order: null };
    const resources = [
      { url: 'https://a.b' },
      { url: 'https://a.c', type: 'pdf', size: 0, height: undefined },
      { url: 'https://a.d', type: undefined, language: '' },
    ] as const;
    const { resources: shown } = toBrief(
      newCampaign(OWN, 'id', null, { ...createCampaignFields(), resources }, NOON),
      NO_REFERENCES,
    );
    assert.deepEqual(shown, [
      { ...absent, url: 'https://a.b', type: null, size: null, width: null },
      { ...absent, url: 'https://a.c', type: 'pdf', size: 0, width: null },
      { ...absent, url: 'https://a.d', type: null, size: null, width: null, language: '' },
    ]);
  },
});
