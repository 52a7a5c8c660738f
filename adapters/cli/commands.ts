import {
  createKeyCommand,
  createMemberCommand,
  createWorkspaceCommand,
  listKeysCommand,
  listMembersCommand,
  listWorkspacesCommand,
  revokeKeyCommand,
  updateMemberCommand,
} from './access-commands.ts';
import type { Command } from './command.ts';
import { importCommand } from './import.ts';
import {
  createPillarCommand,
  listCampaignsCommand,
  listDomainsCommand,
  listGroupsCommand,
  listPillarsCommand,
  listTagsCommand,
  recordClicksCommand,
  recordShareCommand,
  setCampaignStatusCommand,
  verifyDomainCommand,
} from './record-commands.ts';
import { seedCommand } from './seed.ts';

/** All commands, in the order of the help and of docs/command-line.md. */
export const commands: readonly Command[] = [
  createWorkspaceCommand,
  listWorkspacesCommand,
  createMemberCommand,
  updateMemberCommand,
  listMembersCommand,
  createKeyCommand,
  listKeysCommand,
  revokeKeyCommand,
  listGroupsCommand,
  listTagsCommand,
  createPillarCommand,
  listPillarsCommand,
  verifyDomainCommand,
  listDomainsCommand,
  listCampaignsCommand,
  setCampaignStatusCommand,
  recordShareCommand,
  recordClicksCommand,
  importCommand,
  seedCommand,
];

/** The help of the first words of two-word commands, such as `member` of `member create`. */
export const commandGroups: Readonly<Record<string, { readonly summary: string; readonly example: string }>> = {
  workspace: { summary: 'create and list workspaces', example: createWorkspaceCommand.example },
  member: { summary: 'create, update and list members', example: createMemberCommand.example },
  key: { summary: 'create, list and revoke API keys', example: createKeyCommand.example },
  group: { summary: 'list groups', example: listGroupsCommand.example },
  tag: { summary: 'list tags', example: listTagsCommand.example },
  pillar: { summary: 'create and list content pillars', example: createPillarCommand.example },
  domain: { summary: 'verify and list domains', example: verifyDomainCommand.example },
  campaign: { summary: 'list, publish and archive campaigns', example: setCampaignStatusCommand.example },
  share: { summary: 'record shares', example: recordShareCommand.example },
  click: { summary: 'record clicks', example: recordClicksCommand.example },
};

/** The command that starts the server. It is not in `commands`, because it does not open the storage first. */
export const serveCommand = {
  name: 'serve',
  summary: 'start the server',
  details: 'Same as `npm start`. Unlike the other commands, it also works with STORAGE=memory.',
  example: 'serve',
};
