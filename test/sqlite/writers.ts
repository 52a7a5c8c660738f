import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Share } from '../../core/share/share.ts';
import { waitUntil } from '../support/wait-until.ts';
import { assertIntact, withDatabasePath, withOpenEngine } from './database-file.ts';
import type { AcknowledgedWrite } from './writer-process.ts';

const program = join(import.meta.dirname, 'writer-process.js');

/** A process with `writerCount` concurrent writers, and the lines that it has printed. */
export class WriterProcess {
  readonly process: ChildProcess;
  private output = '';

  constructor(file: string, writerCount: number) {
    this.process = spawn(process.execPath, [program, file, String(writerCount)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.process.stdout?.on('data', (chunk) => (this.output += chunk));
  }

  get acknowledged(): AcknowledgedWrite[] {
    const lines = this.output.split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line));
  }

  async waitForWrites(): Promise<void> {
    await waitUntil(() => this.acknowledged.length > 0);
    await delay(Math.random() * 300);
  }

  get hasEnded(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  async kill(): Promise<void> {
    if (this.hasEnded) return;
    const closed = once(this.process, 'close');
    this.process.kill('SIGKILL');
    await closed;
  }
}

type StartWriter = (file: string, writerCount: number) => WriterProcess;

/** Creates a test that starts processes. They are killed after the test, also if it fails or exceeds its timeout. */
export function withWriters(test: (file: string, start: StartWriter) => Promise<void>): () => Promise<void> {
  return withDatabasePath(async (file) => {
    const writers: WriterProcess[] = [];
    // A test that exceeds its timeout goes on, and does not reach `finally` before this process exits.
    const killAll = () => {
      for (const writer of writers) writer.process.kill('SIGKILL');
    };
    process.once('exit', killAll);
    try {
      await test(file, (path, writerCount) => {
        const writer = new WriterProcess(path, writerCount);
        writers.push(writer);
        return writer;
      });
    } finally {
      for (const writer of writers) await writer.kill();
      process.off('exit', killAll);
    }
  });
}

/**
 * Asserts that a file is intact, that it has the acknowledged records, and that it has all or nothing of each
 * transaction.
 */
export async function assertNothingLost(file: string, acknowledged: AcknowledgedWrite[]): Promise<void> {
  await withOpenEngine(file, async ({ engine, writer }) => {
    assertIntact(writer);
    for (const { workspaceId, id } of acknowledged) {
      const campaign = await engine.campaigns.get(workspaceId, id);
      assert.equal(campaign?.shares, 1, `the acknowledged campaign ${id}`);
    }
    const workspaceIds = new Set(acknowledged.map(({ workspaceId }) => workspaceId));
    for (const workspaceId of workspaceIds) {
      const shares = (await engine.shares.listById(workspaceId, '', 1e6)) as readonly Share[];
      const campaigns = await engine.campaigns.listById(workspaceId, '', 1e6);
      const shared = campaigns.filter((it) => it.shares === 1).map(({ id }) => id);
      assert.deepEqual(shares.map(({ campaignId }) => campaignId).sort(), shared.sort());
      const tagged = await engine.campaigns.count(workspaceId, [{ field: 'tagIds', in: ['shared'] }]);
      assert.equal(tagged, shared.length);
    }
  });
}
