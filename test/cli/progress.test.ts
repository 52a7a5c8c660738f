import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { ProgressLine } from '../../adapters/cli/progress.ts';
import { SECOND } from '../support/core.ts';
import { suite } from '../support/suite.ts';

/** Creates a progress display with a manual clock. `readOutput` returns the text since the last call. */
function createProgress(stream: object) {
  const clock = { now: 0 };
  const output = new PassThrough({ encoding: 'utf8' });
  const progress = new ProgressLine(Object.assign(output, stream), () => clock.now);
  return { clock, progress, readOutput: (): string => output.read() ?? '' };
}

suite('the progress of a command', {
  'is a bar on a terminal, with the rate': () => {
    const { clock, progress, readOutput } = createProgress({ isTTY: true, columns: 200 });
    clock.now = 10 * SECOND;
    progress.show(500, 'lines', 0.25);
    assert.equal(readOutput(), '\r\x1b[K█████░░░░░░░░░░░░░░░ 25 %  500 lines, 50 a second');
    clock.now += 50;
    progress.show(501, 'lines', 0.26);
    assert.equal(readOutput(), '', 'the interval has not passed yet');
    clock.now += 50;
    progress.show(502, 'lines');
    assert.equal(readOutput(), '\r\x1b[K502 lines, 50 a second');
    progress.clear();
    assert.equal(readOutput(), '\r\x1b[K');
    progress.clear();
    assert.equal(readOutput(), '');
  },

  'is a full bar if there are more lines than expected': () => {
    const { clock, progress, readOutput } = createProgress({ isTTY: true, columns: 200 });
    clock.now = SECOND;
    progress.show(120, 'lines', 1.2);
    assert.equal(readOutput(), `\r\x1b[K${'█'.repeat(20)} 100 %  120 lines, 120 a second`);
  },

  'is not wider than the terminal': () => {
    const { clock, progress, readOutput } = createProgress({ isTTY: true, columns: 30 });
    clock.now = SECOND;
    progress.show(1_000_000, 'lines', 0.5);
    assert.equal(readOutput().length, '\r\x1b[K'.length + 29);
  },

  'is a new line of text every five seconds without a terminal': () => {
    const { clock, progress, readOutput } = createProgress({});
    for (clock.now = 1; clock.now < 5 * SECOND; clock.now += 99) progress.show(1, 'lines', 0.1);
    assert.equal(readOutput(), '');
    clock.now = 5 * SECOND;
    progress.show(100, 'lines', 0.01);
    clock.now += 4 * SECOND;
    progress.show(180, 'lines', 0.02);
    assert.equal(readOutput(), '1 %  100 lines, 20 a second\n');
  },
});
