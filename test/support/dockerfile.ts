import { execFile } from 'node:child_process';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from './compose.ts';

const RUN_TIMEOUT_MS = 300_000;

/** A line of a Dockerfile, such as the keyword `COPY` with the arguments `core core`. */
interface Instruction {
  readonly keyword: string;
  readonly args: string;
}

/** An image that is built without Docker: a folder takes the place of its file system. */
export interface Image {
  /** The folder that is `/` in the image. */
  readonly folder: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string | undefined;
  /** The folder whose data outlives a container. */
  readonly volume: string | undefined;
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
}

export async function readDockerfile(): Promise<Instruction[]> {
  const text = await readFile(join(root, 'Dockerfile'), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, keyword, args] = /^([A-Z]+) (.*)$/.exec(line) as RegExpExecArray;
      return { keyword, args } as Instruction;
    });
}

/** Returns the names that `.dockerignore` includes after it has excluded everything. */
export async function readBuildContext(): Promise<string[]> {
  const lines = (await readFile(join(root, '.dockerignore'), 'utf8')).split('\n');
  const [first, ...others] = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (first !== '*' || !others.every((line) => line.startsWith('!')))
    throw new Error('.dockerignore has an unsupported format');
  return others.map((line) => line.slice(1));
}

/**
 * Runs every instruction of the Dockerfile. Each stage is a folder below `parent`, and commands run on this machine.
 */
export async function buildImage(parent: string): Promise<Image> {
  const stages = new Map<string, Stage>();
  const contextNames = await readBuildContext();
  let stage: Stage | undefined;
  for (const { keyword, args } of await readDockerfile()) {
    if (keyword === 'FROM') {
      const [image, , name = 'last'] = args.split(' ') as [string, string?, string?];
      const base = stages.get(image);
      stage = {
        env: {},
        workdir: '/',
        user: undefined,
        volume: undefined,
        command: [],
        healthCheck: [],
        ...base,
        folder: join(parent, name),
      };
      stages.set(name, stage);
      await mkdir(stage.folder);
      if (base) await cp(base.folder, stage.folder, { recursive: true });
    } else if (stage) {
      await runInstruction(keyword, args, stage, stages, contextNames);
    }
  }
  return stage as Stage;
}

type Stage = { -readonly [K in keyof Image]: Image[K] };

async function runInstruction(
  keyword: string,
  args: string,
  stage: Stage,
  stages: ReadonlyMap<string, Stage>,
  contextNames: readonly string[],
): Promise<void> {
  const here = join(stage.folder, stage.workdir);
  if (keyword === 'WORKDIR') {
    stage.workdir = args;
    await mkdir(join(stage.folder, args), { recursive: true });
  } else if (keyword === 'COPY') {
    const [, from, paths] = /^(?:--from=(\w+) )?(.*)$/.exec(args) as RegExpExecArray;
    const sources = (paths as string).split(' ');
    const target = sources.pop() as string;
    for (const source of sources) {
      if (!from && !contextNames.includes(source)) throw new Error(`.dockerignore excludes ${source}`);
      const origin = from ? join(stages.get(from)?.folder as string, source) : join(root, source);
      await cp(origin, join(here, target.endsWith('/') ? join(target, source) : target), { recursive: true });
    }
  } else if (keyword === 'RUN') {
    const env = { ...process.env, ...stage.env };
    // Only root can change the owner of a file. Without root, the processes of the image have the user of this process.
    const script = process.getuid?.() === 0 ? args : `chown() { :; }; ${args}`;
    await promisify(execFile)('sh', ['-c', script], { cwd: here, env, timeout: RUN_TIMEOUT_MS });
  } else if (keyword === 'ENV') {
    stage.env = { ...stage.env, ...Object.fromEntries(args.split(' ').map((pair) => pair.split('='))) };
  } else if (keyword === 'USER') {
    stage.user = args;
  } else if (keyword === 'VOLUME') {
    stage.volume = args;
  } else if (keyword === 'CMD') {
    stage.command = JSON.parse(args);
  } else if (keyword === 'HEALTHCHECK') {
    stage.healthCheck = JSON.parse(args.slice(args.indexOf('CMD ') + 4));
  } else if (keyword !== 'EXPOSE') {
    throw new Error(`${keyword} is not supported`);
  }
}
