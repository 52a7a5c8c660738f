import assert from 'node:assert/strict';
import type { Condition, GlobalRecordStore } from '../../adapters/persistence/record-store.ts';
import { globalStoreNames } from '../../adapters/persistence/storage-engine.ts';
import type { Tests } from '../support/suite.ts';
import { buildCampaign, buildTag, newId, type SchemaName, samples } from './samples.ts';
import type { CreateStorageTest } from './storage-test.ts';

/**
 * Other texts that an engine could mistake for a text that ends with U+FFFD: it might cut them at NUL, replace a lone
 * surrogate by U+FFFD, or compare only their beginnings.
 */
const listOtherTexts = (text: string) => [
  `${text}\0`,
  `${text}\0x`,
  `\0${text}`,
  text + 'x'.repeat(100_000),
  text.replace('\ufffd', '\ud800'),
  text.replace('\ufffd', '\udc00'),
  `${text}\udfff`,
];
const newText = () => `${newId()}\ufffd`;
const fail = () => assert.fail('a record was found');

/** Returns the tests of texts that programs written in C, and encodings, treat in a special way. */
export function defineUnusualTextTests(test: CreateStorageTest): Tests {
  return {
    'finds no record by an ID that differs in a NUL, a lone surrogate or a long suffix': test(async (storage) => {
      for (const name of ['campaigns', 'tags', 'idempotencyRecords'] satisfies SchemaName[]) {
        const records = storage[name] as (typeof storage)['campaigns'];
        const added = { ...samples[name](newText()), id: newText() } as never as ReturnType<typeof buildCampaign>;
        const { workspaceId, id } = added;
        await records.add(added);
        const where = (value: string) => [{ field: 'id', in: [value] }] as const;
        for (const [otherWorkspace, otherId] of [
          ...listOtherTexts(id).map((other) => [workspaceId, other] as const),
          ...listOtherTexts(workspaceId).map((other) => [other, id] as const),
        ]) {
          const what = `${name} ${JSON.stringify([otherWorkspace, otherId]).slice(0, 200)}`;
          assert.equal(await records.get(otherWorkspace, otherId), undefined, what);
          assert.deepEqual(await records.getMany(otherWorkspace, [otherId]), [], what);
          assert.equal(await records.count(otherWorkspace, where(otherId)), 0, what);
          assert.equal(await records.update(otherWorkspace, otherId, fail), undefined, what);
          assert.equal(await records.remove(otherWorkspace, otherId), false, what);
        }
        assert.deepEqual(await records.get(workspaceId, id), added);
      }
      for (const name of globalStoreNames) {
        const records = storage[name] as GlobalRecordStore<{ readonly id: string }>;
        const added = { id: newText() };
        await records.add(added);
        for (const other of listOtherTexts(added.id)) {
          assert.equal(await records.get(other), undefined, name);
          assert.equal(await records.remove(other), false, name);
        }
        assert.deepEqual(await records.get(added.id), added);
      }
    }),

    'matches no record by a condition or a search term that differs in such a character': test(
      async ({ campaigns }) => {
        const [tagId, domain, createdBy] = [newText(), newText(), newText()];
        const campaign = buildCampaign(newId(), { tagIds: [tagId], domain, createdBy, searchText: `a ${tagId} b` });
        await campaigns.add(campaign);
        const { workspaceId } = campaign;
        const find = async (...where: Condition<typeof campaign>[]) => {
          const found = await campaigns.list(workspaceId, { where, by: 'createdAt', order: 'asc', skip: 0, take: 9 });
          assert.equal(await campaigns.count(workspaceId, where), found.length);
          return found.length;
        };
        for (const [field, value] of [
          ['tagIds', tagId],
          ['domain', domain],
          ['createdBy', createdBy],
        ] as const) {
          assert.equal(await find({ field, in: [value] }), 1);
          for (const other of listOtherTexts(value)) {
            assert.equal(await find({ field, in: [other] }), 0, `${field} ${JSON.stringify(other).slice(0, 200)}`);
            assert.equal(
              await find({ field, in: [other, 'absent'] }),
              0,
              `${field} ${JSON.stringify(other).slice(0, 200)}`,
            );
          }
        }
        assert.equal(await find({ field: 'searchText', contains: tagId }), 1);
        for (const contains of listOtherTexts(tagId)) {
          assert.equal(await find({ field: 'searchText', contains }), 0, JSON.stringify(contains).slice(0, 200));
        }
      },
    ),

    'rejects a unique value or an ID with such a character, or keeps it apart from others': test(async ({ tags }) => {
      const tag = buildTag(newId(), newText());
      await tags.add(tag);
      const { workspaceId, foldedName } = tag;
      const others = listOtherTexts(foldedName).map((other) => buildTag(workspaceId, other));
      const added = await Promise.allSettled(others.map((other) => tags.add(other)));
      for (const [i, { status }] of added.entries()) {
        const { id, foldedName: other } = others[i] as typeof tag;
        const count = await tags.count(workspaceId, [{ field: 'foldedName', in: [other] }]);
        assert.equal(count, status === 'fulfilled' ? 1 : 0, JSON.stringify(other).slice(0, 200));
        assert.equal((await tags.get(workspaceId, id)) !== undefined, status === 'fulfilled');
      }
      assert.equal(await tags.count(workspaceId, [{ field: 'foldedName', in: [foldedName] }]), 1);
      const id = newText();
      await tags.add(buildTag(workspaceId, newText(), { id }));
      await Promise.allSettled(
        listOtherTexts(id).map((other) => tags.add(buildTag(workspaceId, newText(), { id: other }))),
      );
      assert.equal(await tags.count(workspaceId, [{ field: 'id', in: [id] }]), 1);
    }),
  };
}
