import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestStorage, withApplication, withEngine } from '../support/storage.ts';
import { createCampaignFields } from '../support/tenants.ts';

const CONCURRENCY = 4;
const MAX_SHARE_COUNT = 10_000;

/**
 * A program that records a share and a click for several members at a time, and prints a line for each acknowledged
 * share or click.
 */
const PROGRAM = `
  import { withApplication } from ${JSON.stringify(join(import.meta.dirname, '../support/storage.js'))};
  const [settings, workspaceId, campaignId, ...memberIds] = process.argv.slice(1);
  await withApplication(JSON.parse(settings), async ({ campaigns, shares }) => {
    const recordAll = async () => {
      for (let memberId = memberIds.pop(); memberId; memberId = memberIds.pop()) {
        try {
          await shares.createForMember(workspaceId, campaignId, memberId);
          console.log(memberId);
          await campaigns.recordClicks(workspaceId, campaignId, 1);
          console.log('click');
        } catch (error) {
          console.log('failure');
        }
      }
    };
    await Promise.all(Array.from({ length: ${CONCURRENCY} }, recordAll));
  });`;

/** Records shares and clicks of one campaign with separate processes, as the command line does. */
export class ShareRecorder {
  /** The IDs of the members whose share was acknowledged. */
  private readonly shares = new Set<string>();
  private clickCount = 0;
  private failureCount = 0;
  /** The maximum number of clicks that were in progress when processes were killed. */
  private interruptedCount = 0;
  private child: ChildProcess | undefined;

  private constructor(
    private readonly settings: TestStorage['settings'],
    private readonly workspaceId: string,
    private readonly id: string,
    private readonly memberIds: string[],
  ) {}

  /** Creates the campaign, and members who can share it. */
  static create(settings: TestStorage['settings'], workspaceId: string, members: number): Promise<ShareRecorder> {
    return withApplication(settings, async (app) => {
      const { id } = await app.campaigns.create({ workspaceId }, createCampaignFields());
      const memberIds: string[] = [];
      const createMembers = async () => {
        const member = { name: 'Kim', email: 'kim@northwind.example' };
        for (let i = 0; i < members / CONCURRENCY; i++)
          memberIds.push((await app.members.create(workspaceId, member)).id);
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, createMembers));
      return new ShareRecorder(settings, workspaceId, id, memberIds);
    });
  }

  /** The number of acknowledged shares. */
  get recordedShareCount(): number {
    return this.shares.size;
  }

  /** Starts a process that records the shares of the next members. */
  startProcess(members: number): void {
    const args = [JSON.stringify(this.settings), this.workspaceId, this.id, ...this.memberIds.splice(0, members)];
    const program = ['--input-type=module', '--eval', PROGRAM, ...args];
    this.child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'] });
    createInterface({ input: this.child.stdout as NonNullable<ChildProcess['stdout']> }).on('line', (line) => {
      if (line === 'click') this.clickCount++;
      else if (line === 'failure') this.failureCount++;
      else this.shares.add(line);
    });
  }

  /** Kills the process while it works. */
  async killProcess(): Promise<void> {
    this.child?.kill('SIGKILL');
    this.interruptedCount += CONCURRENCY;
    await this.waitForExit();
  }

  /** Resolves when the process has exited. */
  async waitForExit(): Promise<void> {
    if (this.child?.exitCode === null && this.child.signalCode === null) await once(this.child, 'close');
  }

  /**
   * Fails unless the counter of shares equals the number of stored shares, every acknowledged share is stored, and all
   * acknowledged clicks are counted. Failed and interrupted clicks may be counted, too.
   */
  assertConsistent(): Promise<void> {
    const { workspaceId, id } = this;
    return withEngine(this.settings, async (engine, app) => {
      const stored = await engine.shares.listById(workspaceId, '', MAX_SHARE_COUNT);
      const { shares, clicks } = await app.campaigns.get({ workspaceId }, id);
      const lost = [...this.shares].filter((memberId) => !stored.some((share) => share.memberId === memberId));
      assert.deepEqual({ shares, lost }, { shares: stored.length, lost: [] });
      const maxClicks = this.clickCount + this.failureCount + this.interruptedCount;
      assert.ok(clicks >= this.clickCount && clicks <= maxClicks, `${clicks} of ${this.clickCount}`);
    });
  }
}
