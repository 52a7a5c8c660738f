import type { ListeningAddresses } from './listen.ts';
import type { PreparedDemo } from './prepare-demo.ts';
import { type Settings, settings as settingSchemas } from './settings.ts';
import { storages } from './storages.ts';

/**
 * Writes the message of a server that has started to standard output: for people on a terminal, and otherwise as lines
 * in the format of the log. The log itself never has the API key.
 */
export function writeStartMessage(
  output: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>,
  settings: Settings,
  running: ListeningAddresses & Partial<PreparedDemo>,
): void {
  const paragraphs = createStartMessage(settings, running);
  const formatLine = (msg: string) => `${JSON.stringify({ level: INFO, time: Date.now(), msg })}\n`;
  output.write(paragraphs.map((text) => (output.isTTY ? `${text}\n\n` : formatLine(text))).join(''));
}

/** The number of the log level `info`. */
const INFO = 30;

/**
 * Returns the paragraphs of the message: the addresses of the API, the short links and the metrics. Depending on the
 * storage, they also have the location of the data, and the API key of the demo or the command to run next.
 */
function createStartMessage(settings: Settings, running: ListeningAddresses & Partial<PreparedDemo>): string[] {
  const { url, metricsUrl, linksUrl, demo, firstWorkspaceId } = running;
  const { describeLocation, isShared, hasDemo } = storages[settings.STORAGE];
  const paragraphs = [`Workspace Advocacy listens on ${url}`];
  if (describeLocation) paragraphs.push(describeLocation(settings));
  if (demo) {
    const isShownOnce = isShared && settings.DEMO_API_KEY === undefined;
    paragraphs.push(
      `Demo API key: ${demo.apiKey}${isShownOnce ? '\nStore this key now, because it is shown only once.' : ''}`,
    );
    paragraphs.push(`Try:\n  curl -H 'Authorization: Bearer ${demo.apiKey}' ${url}/campaigns`);
    paragraphs.push(`Enter the key at ${url}/dashboard to see figures, or at ${url}/docs to try each operation.`);
  } else if (hasDemo && isShared) {
    paragraphs.push(describeNextCommand(settings, firstWorkspaceId));
  }
  if (linksUrl) paragraphs.push(`Short links: ${linksUrl}`);
  if (metricsUrl) paragraphs.push(`Metrics: ${metricsUrl}`);
  return paragraphs;
}

/** Returns the command that creates another API key or, if there is no workspace, the first workspace. */
function describeNextCommand(settings: Settings, workspaceId: string | undefined): string {
  const { locationSetting } = storages[settings.STORAGE];
  const isDefault =
    locationSetting === undefined || settings[locationSetting] === settingSchemas[locationSetting].parse(undefined);
  const assignment = isDefault ? '' : `${locationSetting}=${quoteForShell(String(settings[locationSetting]))} `;
  const program = `${assignment}npx advocacy`;
  return workspaceId === undefined
    ? `Create a workspace and its first API key:\n  ${program} workspace create --name NAME --with-key`
    : `Create another API key:\n  ${program} key create --workspace ${workspaceId}`;
}

function quoteForShell(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
