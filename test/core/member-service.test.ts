import assert from 'node:assert/strict';
import { findEmailProblem } from '../../core/member/member.ts';
import { suite } from '../support/suite.ts';

suite('the email of a member', {
  'must have text before and after exactly one @': () => {
    for (const email of ['a@b', 'ada.winter+x@example.com', 'ü@bücher.example'])
      assert.equal(findEmailProblem(email), undefined);
    for (const email of ['', 'ada', '@example.com', 'ada@', 'a@b@c', 'ada winter@example.com', 'ada@exam\tple.com']) {
      assert.match(findEmailProblem(email) ?? '', /must be an email address/, email);
    }
  },
});
