import { compareInMemory, compareOnMongodb } from './compare.ts';
import { flatInMemory, flatOnMongodb } from './flat.ts';
import { Client } from './measure.ts';
import { readOptions } from './options.ts';
import { circumstances, writeSection } from './report.ts';

const parts = {
  beside: {
    mongodb: { title: 'Beside others on MongoDB', measure: compareOnMongodb },
    memory: { title: 'Beside `node:http` in memory', measure: compareInMemory },
  },
  flat: {
    mongodb: { title: 'As workspaces grow, on MongoDB', measure: flatOnMongodb },
    memory: { title: 'As workspaces grow, in memory', measure: flatInMemory },
  },
};

// The servers end when this process exits, which a signal alone would not let it do.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
const options = readOptions();
const client = new Client();
for (const storage of options.storages) {
  const { title, measure } = parts[options.isFlat ? 'flat' : 'beside'][storage];
  const told = `${circumstances()}\n\n${await measure(client, options)}`;
  console.log(`## ${title}\n\n${told}`);
  if (options.isWhole) writeSection(title, told);
}
client.close();
