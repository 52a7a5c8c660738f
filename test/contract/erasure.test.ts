import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createNodeSystem } from '../../adapters/node/system.ts';
import { createStorage } from '../../adapters/persistence/storage-engine.ts';
import { Application } from '../../core/application.ts';
import { withDatabasePath, withOpenEngine } from '../sqlite/database-file.ts';
import { withMongoClient } from '../support/mongo-client.ts';
import { withDatabase } from '../support/mongod.ts';
import { withApplication } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createWorkspace } from '../support/tenants.ts';

const LEAVER = {
  name: 'Zebulon Quartermain',
  email: 'Zeb.Quartermain@Leaver.example',
  invitation: 'accepted',
} as const;
const TEXTS = [LEAVER.name, LEAVER.email, LEAVER.name.toLowerCase(), LEAVER.email.toLowerCase()];

/** Creates members, of whom one has a key and is renamed. Returns the IDs of the workspace and of this member. */
async function createLeaver(app: Application): Promise<readonly [workspaceId: string, id: string]> {
  const { workspaceId } = await createWorkspace(app);
  for (let i = 0; i < 20; i++) {
    const fields = { name: `Zeb Quarter ${i}`, email: `quartermain.${i}@leaver.example` };
    await app.members.create(workspaceId, fields);
  }
  const member = await app.members.create(workspaceId, LEAVER);
  await app.apiKeys.create(workspaceId, { memberId: member.id });
  await app.members.update(workspaceId, member.id, { name: 'Zeb Q.' });
  await app.members.update(workspaceId, member.id, { name: LEAVER.name });
  return [workspaceId, member.id];
}

/** Returns which of the texts of the deleted member a file or a database has. */
const findTexts = (content: string) => TEXTS.filter((text) => content.includes(text));

suite('the name and the email address of a deleted member', {
  'are nowhere in the SQLite file after a checkpoint': withDatabasePath(async (file) => {
    // Closing the last connection copies the log into the file.
    const readTexts = () => findTexts(readFileSync(file, 'latin1'));
    const open = <T>(work: (app: Application) => Promise<T>) =>
      withOpenEngine(file, ({ engine }) => work(new Application(createStorage(engine), createNodeSystem())));
    const leaver = await open(createLeaver);
    assert.deepEqual(readTexts(), TEXTS);
    await open((app) => app.members.remove(...leaver));
    assert.deepEqual(readTexts(), []);
  }),

  'are nowhere in the collections of MongoDB': () =>
    withDatabase((uri) =>
      withApplication(uri, (app) =>
        withMongoClient(uri, async (client) => {
          const readTexts = async () => {
            const found = new Set<string>();
            for (const { name } of await client.db().listCollections().toArray()) {
              const documents = await client.db().collection(name).find().toArray();
              for (const text of findTexts(JSON.stringify(documents))) found.add(text);
            }
            return [...found];
          };
          const leaver = await createLeaver(app);
          assert.deepEqual(await readTexts(), TEXTS);
          await app.members.remove(...leaver);
          assert.deepEqual(await readTexts(), []);
        }),
      ),
    ),
});
