import {
  createKey,
  createMember,
  createWorkspace,
  listKeys,
  listMembers,
  listWorkspaces,
  revokeKey,
  updateMember,
} from './access-commands.ts';
import type { Command } from './command.ts';
import { importRecords } from './import.ts';
import {
  createPillar,
  listCampaigns,
  listDomains,
  listGroups,
  listPillars,
  listTags,
  recordClicks,
  recordShare,
  setCampaignStatus,
  verifyDomain,
} from './record-commands.ts';
import { seed } from './seed.ts';

/** The command line: every command on the use cases of the core. */
export const commands: readonly Command[] = [
  createWorkspace,
  listWorkspaces,
  createMember,
  updateMember,
  listMembers,
  createKey,
  listKeys,
  revokeKey,
  listGroups,
  listTags,
  createPillar,
  listPillars,
  verifyDomain,
  listDomains,
  listCampaigns,
  setCampaignStatus,
  recordShare,
  recordClicks,
  importRecords,
  seed,
];

/** The first words of the commands that have two. */
export const groups: Readonly<Record<string, { readonly does: string; readonly example: string }>> = {
  workspace: { does: 'Make and list workspaces.', example: createWorkspace.example },
  member: { does: 'Add, change and list the members of a workspace.', example: createMember.example },
  key: { does: 'Make, list and revoke API keys.', example: createKey.example },
  group: { does: 'List groups.', example: listGroups.example },
  tag: { does: 'List tags.', example: listTags.example },
  pillar: { does: 'Make and list content pillars.', example: createPillar.example },
  domain: { does: 'Verify and list domains.', example: verifyDomain.example },
  campaign: { does: 'List, publish and archive campaigns.', example: setCampaignStatus.example },
  share: { does: 'Record shares.', example: recordShare.example },
  click: { does: 'Record clicks.', example: recordClicks.example },
};

/** Needs no storage of its own: it starts the server. */
export const serveCommand = {
  name: 'serve',
  does: 'start the server',
  more: 'It is what `npm start` does, on the same settings, with memory storage too.',
  example: 'serve',
};
