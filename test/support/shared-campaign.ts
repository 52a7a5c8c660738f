import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { MongoClient } from 'mongodb';
import { withApplication } from './mongodb-service.ts';
import { createCampaignBody } from './tenants.ts';

/** A program that records a share and a click for each member, several at the same time, and prints the acknowledged ones. */
const PROGRAM = `
  import { withApplication } from ${JSON.stringify(join(import.meta.dirname, 'mongodb-service.js'))};
  const [concurrency, uri, workspaceId, campaignId, ...memberIds] = process.argv.slice(1);
  await withApplication(uri, async ({ campaigns }) => {
    const recordAll = async () => {
      for (let memberId = memberIds.pop(); memberId; memberId = memberIds.pop()) {
        try {
          await campaigns.recordShare(workspaceId, campaignId, memberId);
          console.log(memberId);
          await campaigns.recordClicks(workspaceId, campaignId, 1);
          console.log('click');
        } catch (error) {
          console.log('failure');
        }
      }
    };
    await Promise.all(Array.from({ length: Number(concurrency) }, recordAll));
  });`;

const CONCURRENCY = 4;
const NAME = 'shared and clicked';

/** A campaign whose shares and clicks are recorded by separate processes, as by the command line. */
export class SharedCampaign {
  /** The ids of the members whose share was acknowledged. */
  private readonly shares = new Set<string>();
  private clickCount = 0;
  private failureCount = 0;
  /** The maximum number of clicks in progress when processes were killed. */
  private interruptedCount = 0;
  private child: ChildProcess | undefined;

  private constructor(
    private readonly uri: string,
    private readonly workspaceId: string,
    private readonly id: string,
    private readonly memberIds: string[],
  ) {}

  /** Creates the campaign, and members who can share it. */
  static async create(uri: string, workspaceId: string, members: number): Promise<SharedCampaign> {
    return withApplication(uri, async (app) => {
      const { id } = await app.campaigns.create({ workspaceId }, createCampaignBody(NAME));
      const memberIds: string[] = [];
      const createMembers = async () => {
        const member = { name: 'Kim', email: 'kim@northwind.example' };
        for (let i = 0; i < members / CONCURRENCY; i++)
          memberIds.push((await app.members.create(workspaceId, member)).id);
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, createMembers));
      return new SharedCampaign(uri, workspaceId, id, memberIds);
    });
  }

  /** The number of acknowledged shares. */
  get recordedShareCount(): number {
    return this.shares.size;
  }

  /** Starts a process that records the shares of the next members. */
  start(members: number): void {
    const memberIds = this.memberIds.splice(0, members);
    const program = [
      '--input-type=module',
      '--eval',
      PROGRAM,
      String(CONCURRENCY),
      this.uri,
      this.workspaceId,
      this.id,
      ...memberIds,
    ];
    this.child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'] });
    createInterface({ input: this.child.stdout as NonNullable<ChildProcess['stdout']> }).on('line', (line) => {
      if (line === 'click') this.clickCount++;
      else if (line === 'failure') this.failureCount++;
      else this.shares.add(line);
    });
  }

  /** Kills the process while it works. */
  async kill(): Promise<void> {
    this.child?.kill('SIGKILL');
    this.interruptedCount += CONCURRENCY;
    await this.waitForExit();
  }

  /** Resolves when the process has exited. */
  async waitForExit(): Promise<void> {
    if (this.child?.exitCode === null && this.child.signalCode === null) await once(this.child, 'close');
  }

  /**
   * Fails unless the counter equals the number of stored shares, every acknowledged share is stored, and the number of clicks is
   * possible for the acknowledged, failed and interrupted ones.
   */
  async assertConsistent(): Promise<void> {
    const client = new MongoClient(this.uri);
    try {
      const stored = await client.db().collection('shares').find({ campaignId: this.id }).toArray();
      const campaign = await client.db().collection('campaigns').findOne({ workspaceId: this.workspaceId, name: NAME });
      const members = new Set(stored.map(({ memberId }) => memberId));
      const lost = [...this.shares].filter((memberId) => !members.has(memberId));
      assert.deepEqual({ shares: campaign?.shares, lost }, { shares: stored.length, lost: [] });
      const maxClicks = this.clickCount + this.failureCount + this.interruptedCount;
      assert.ok(
        campaign?.clicks >= this.clickCount && campaign?.clicks <= maxClicks,
        `${campaign?.clicks} of ${this.clickCount}`,
      );
    } finally {
      await client.close();
    }
  }
}
