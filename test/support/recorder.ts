import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { MongoClient } from 'mongodb';
import { withUseCases } from './mongodb-service.ts';
import { campaignBody } from './tenants.ts';

/** Records in lanes, each a share of the next member and then a click, and prints what it knows to be kept. */
const PROGRAM = `
  import { withUseCases } from ${JSON.stringify(join(import.meta.dirname, 'mongodb-service.js'))};
  const [lanes, uri, workspaceId, campaignId, ...memberIds] = process.argv.slice(1);
  await withUseCases(uri, async ({ campaigns }) => {
    const lane = async () => {
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
    await Promise.all(Array.from({ length: Number(lanes) }, lane));
  });`;

const LANES = 4;
const NAME = 'shared and clicked';

/** A campaign of which shares and clicks are recorded by processes of their own, as by the command line. */
export class SharedCampaign {
  private readonly shares = new Set<string>();
  private clicks = 0;
  private failures = 0;
  private killed = 0;
  private child: ChildProcess | undefined;

  private constructor(
    private readonly uri: string,
    private readonly workspaceId: string,
    private readonly id: string,
    private readonly memberIds: string[],
  ) {}

  /** Makes the campaign, and so many members to share it. */
  static async create(uri: string, workspaceId: string, members: number): Promise<SharedCampaign> {
    return withUseCases(uri, async (app) => {
      const { id } = await app.campaigns.create({ workspaceId }, campaignBody(NAME));
      const memberIds: string[] = [];
      const lane = async () => {
        const member = { name: 'Kim', email: 'kim@northwind.example' };
        for (let i = 0; i < members / LANES; i++) memberIds.push((await app.members.create(workspaceId, member)).id);
      };
      await Promise.all(Array.from({ length: LANES }, lane));
      return new SharedCampaign(uri, workspaceId, id, memberIds);
    });
  }

  /** How many shares were acknowledged. */
  get recorded(): number {
    return this.shares.size;
  }

  /** Starts a process that records the shares of the next so many members. */
  start(members: number): void {
    const memberIds = this.memberIds.splice(0, members);
    const program = [
      '--input-type=module',
      '--eval',
      PROGRAM,
      String(LANES),
      this.uri,
      this.workspaceId,
      this.id,
      ...memberIds,
    ];
    this.child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'] });
    createInterface({ input: this.child.stdout as NonNullable<ChildProcess['stdout']> }).on('line', (line) => {
      if (line === 'click') this.clicks++;
      else if (line === 'failure') this.failures++;
      else this.shares.add(line);
    });
  }

  /** Kills the process in the midst of its work. */
  async kill(): Promise<void> {
    this.child?.kill('SIGKILL');
    this.killed += LANES;
    await this.ended();
  }

  /** Resolves when the process has done all that it was to do. */
  async ended(): Promise<void> {
    if (this.child?.exitCode === null && this.child.signalCode === null) await once(this.child, 'close');
  }

  /** Fails unless the counter and the shares agree, with each other and with what was acknowledged. */
  async check(): Promise<void> {
    const client = new MongoClient(this.uri);
    try {
      const stored = await client.db().collection('shares').find({ campaignId: this.id }).toArray();
      const campaign = await client.db().collection('campaigns').findOne({ workspaceId: this.workspaceId, name: NAME });
      const members = new Set(stored.map(({ memberId }) => memberId));
      const lost = [...this.shares].filter((memberId) => !members.has(memberId));
      assert.deepEqual({ shares: campaign?.shares, lost }, { shares: stored.length, lost: [] });
      const most = this.clicks + this.failures + this.killed;
      assert.ok(campaign?.clicks >= this.clicks && campaign?.clicks <= most, `${campaign?.clicks} of ${this.clicks}`);
    } finally {
      await client.close();
    }
  }
}
