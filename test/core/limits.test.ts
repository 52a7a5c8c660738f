import assert from 'node:assert/strict';
import { KEY_LABEL } from '../../core/access/api-key.ts';
import { EMAIL, MEMBER_NAME } from '../../core/access/member.ts';
import { WORKSPACE_NAME } from '../../core/access/workspace.ts';
import { CAMPAIGN_NAME, MAX_RESOURCE_COUNT, RESOURCE_LABEL } from '../../core/campaign/campaign.ts';
import { CONTENT_PILLAR_DESCRIPTION, CONTENT_PILLAR_TITLE } from '../../core/content-pillar/content-pillar.ts';
import { GROUP_NAME } from '../../core/group/group.ts';
import { ICONS, QUESTION, USER_TYPES } from '../../core/inspiration-question/inspiration-question.ts';
import { COLORS } from '../../core/shared/color.ts';
import { DEFAULT_PAGE_SIZE, PAGE_SIZES } from '../../core/shared/page.ts';
import { DESCRIPTION, SEARCH_TERM, URL_TEXT } from '../../core/shared/text.ts';
import { TAG_NAME } from '../../core/tag/tag.ts';
import { suite } from '../support/suite.ts';

const icons = `
  bulb sparkles message message-circle pencil writing book bookmark star heart target rocket briefcase
  building building-skyscraper home users user users-group speakerphone send mail brand-linkedin link world
  search calendar clock chart-bar chart-line chart-dots chart-pie trending-up trophy award bolt flame sun moon
  cloud camera microphone video photo file-text clipboard check circle-check help question-mark
`;

suite('the limits', {
  'of texts are those of the specification and of the decisions': () => {
    assert.deepEqual([CAMPAIGN_NAME, GROUP_NAME, TAG_NAME], Array(3).fill({ min: 1, max: 190 }));
    assert.deepEqual(QUESTION, { min: 10, max: 170 });
    assert.deepEqual(CONTENT_PILLAR_TITLE, { min: 1, max: 100 });
    assert.deepEqual(CONTENT_PILLAR_DESCRIPTION, { max: 1500 });
    assert.deepEqual([DESCRIPTION, URL_TEXT, SEARCH_TERM], [{ max: 5000 }, { max: 2048 }, { max: 200 }]);
    assert.deepEqual(RESOURCE_LABEL, { max: 255 });
  },

  'of what an operator writes are those of the reference': () => {
    assert.deepEqual([WORKSPACE_NAME, MEMBER_NAME], Array(2).fill({ min: 1, max: 190 }));
    assert.deepEqual([KEY_LABEL, EMAIL], [{ max: 190 }, { min: 3, max: 254 }]);
  },

  'of lists are those of the specification and of the decisions': () => {
    assert.equal(MAX_RESOURCE_COUNT, 50);
    assert.equal(DEFAULT_PAGE_SIZE, 50);
    assert.deepEqual(PAGE_SIZES, { campaigns: 25, inspirationQuestions: 100, contentPillars: 100, domains: 50 });
  },

  'of what may be chosen are those of the specification': () => {
    assert.deepEqual(COLORS, ['red', 'yellow', 'green', 'blue', 'purple', 'brown']);
    assert.deepEqual(USER_TYPES, ['thought_leader', 'advocate', 'all']);
    assert.deepEqual(ICONS, icons.trim().split(/\s+/));
  },
});
