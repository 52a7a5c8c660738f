import assert from 'node:assert/strict';
import { API_KEY_LABEL_LENGTH } from '../../core/access/api-key.ts';
import { EMAIL_LENGTH, MEMBER_NAME_LENGTH } from '../../core/access/member.ts';
import { WORKSPACE_NAME_LENGTH } from '../../core/access/workspace.ts';
import {
  CAMPAIGN_NAME_LENGTH,
  MAX_CAMPAIGN_PAGE_SIZE,
  MAX_RESOURCE_COUNT,
  RESOURCE_LABEL_LENGTH,
} from '../../core/campaign/campaign.ts';
import {
  CONTENT_PILLAR_DESCRIPTION_LENGTH,
  CONTENT_PILLAR_TITLE_LENGTH,
  MAX_CONTENT_PILLAR_PAGE_SIZE,
} from '../../core/content-pillar/content-pillar.ts';
import { MAX_DOMAIN_PAGE_SIZE } from '../../core/domain/domain.ts';
import { GROUP_NAME_LENGTH } from '../../core/group/group.ts';
import {
  ICONS,
  MAX_INSPIRATION_QUESTION_PAGE_SIZE,
  QUESTION_LENGTH,
  USER_TYPES,
} from '../../core/inspiration-question/inspiration-question.ts';
import { COLORS } from '../../core/shared/color.ts';
import { DEFAULT_PAGE_SIZE } from '../../core/shared/page.ts';
import { DESCRIPTION_LENGTH, SEARCH_TERM_LENGTH, URL_LENGTH } from '../../core/shared/text.ts';
import { TAG_NAME_LENGTH } from '../../core/tag/tag.ts';
import { suite } from '../support/suite.ts';

const icons = `
  bulb sparkles message message-circle pencil writing book bookmark star heart target rocket briefcase
  building building-skyscraper home users user users-group speakerphone send mail brand-linkedin link world
  search calendar clock chart-bar chart-line chart-dots chart-pie trending-up trophy award bolt flame sun moon
  cloud camera microphone video photo file-text clipboard check circle-check help question-mark
`;

suite('the limits', {
  'of texts that clients of the API send are as specified or decided': () => {
    assert.deepEqual([CAMPAIGN_NAME_LENGTH, GROUP_NAME_LENGTH, TAG_NAME_LENGTH], Array(3).fill({ min: 1, max: 190 }));
    assert.deepEqual(QUESTION_LENGTH, { min: 10, max: 170 });
    assert.deepEqual(CONTENT_PILLAR_TITLE_LENGTH, { min: 1, max: 100 });
    assert.deepEqual(CONTENT_PILLAR_DESCRIPTION_LENGTH, { max: 1500 });
    assert.deepEqual(
      [DESCRIPTION_LENGTH, URL_LENGTH, SEARCH_TERM_LENGTH],
      [{ max: 5000 }, { max: 2048 }, { max: 200 }],
    );
    assert.deepEqual(RESOURCE_LABEL_LENGTH, { max: 255 });
  },

  'of texts that operators enter with the command line are as decided': () => {
    assert.deepEqual([WORKSPACE_NAME_LENGTH, MEMBER_NAME_LENGTH], Array(2).fill({ min: 1, max: 190 }));
    assert.deepEqual([API_KEY_LABEL_LENGTH, EMAIL_LENGTH], [{ max: 190 }, { min: 3, max: 254 }]);
  },

  'of arrays and pages are as specified or decided': () => {
    assert.equal(MAX_RESOURCE_COUNT, 50);
    assert.equal(DEFAULT_PAGE_SIZE, 50);
    assert.deepEqual([MAX_CAMPAIGN_PAGE_SIZE, MAX_DOMAIN_PAGE_SIZE], [25, 50]);
    assert.deepEqual([MAX_INSPIRATION_QUESTION_PAGE_SIZE, MAX_CONTENT_PILLAR_PAGE_SIZE], [100, 100]);
  },

  'of enumerations are their specified values': () => {
    assert.deepEqual(COLORS, ['red', 'yellow', 'green', 'blue', 'purple', 'brown']);
    assert.deepEqual(USER_TYPES, ['thought_leader', 'advocate', 'all']);
    assert.deepEqual(ICONS, icons.trim().split(/\s+/));
  },
});
