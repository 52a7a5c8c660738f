import { pathToFileURL } from 'node:url';

// Runs the given files of tests in this process. Without these variables, uvu would run the suites of a file while the
// next one is loaded.
Object.assign(globalThis, { UVU_DEFER: true, UVU_QUEUE: [[null]] });
const { runFiles } = await import('./suite.ts');
await runFiles(process.argv.slice(2).map((file) => pathToFileURL(file).href));
