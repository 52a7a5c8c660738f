import { execFile } from 'node:child_process';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from './compose.ts';

const RUN_WITHIN_MS = 300_000;

/** A line of a Dockerfile, as `COPY` and `core core`. */
interface Instruction {
  readonly word: string;
  readonly rest: string;
}

/** What a Dockerfile makes, without an engine: folders instead of file systems. */
export interface Image {
  /** What is `/` in the image. */
  readonly folder: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string | undefined;
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
}

export async function readDockerfile(): Promise<Instruction[]> {
  const text = await readFile(join(root, 'Dockerfile'), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, word, rest] = /^([A-Z]+) (.*)$/.exec(line) as RegExpExecArray;
      return { word, rest } as Instruction;
    });
}

/** The names that `.dockerignore` lets through, after it has refused all. */
export async function namesForDocker(): Promise<string[]> {
  const lines = (await readFile(join(root, '.dockerignore'), 'utf8')).split('\n');
  const [first, ...rest] = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (first !== '*' || !rest.every((line) => line.startsWith('!'))) throw new Error('.dockerignore is read otherwise');
  return rest.map((line) => line.slice(1));
}

/** Carries out every instruction in folders below the one given: each stage has one, and commands really run. */
export async function buildIn(parent: string): Promise<Image> {
  const stages = new Map<string, Stage>();
  const names = await namesForDocker();
  let stage: Stage | undefined;
  for (const { word, rest } of await readDockerfile()) {
    if (word === 'FROM') {
      const [image, , name = 'last'] = rest.split(' ') as [string, string?, string?];
      const base = stages.get(image);
      stage = {
        env: {},
        workdir: '/',
        user: undefined,
        command: [],
        healthCheck: [],
        ...base,
        folder: join(parent, name),
      };
      stages.set(name, stage);
      await mkdir(stage.folder);
      if (base) await cp(base.folder, stage.folder, { recursive: true });
    } else if (stage) {
      await carryOut(word, rest, stage, stages, names);
    }
  }
  return stage as Stage;
}

type Stage = { -readonly [K in keyof Image]: Image[K] };

async function carryOut(
  word: string,
  rest: string,
  stage: Stage,
  stages: ReadonlyMap<string, Stage>,
  names: readonly string[],
): Promise<void> {
  const here = join(stage.folder, stage.workdir);
  if (word === 'WORKDIR') {
    stage.workdir = rest;
    await mkdir(join(stage.folder, rest), { recursive: true });
  } else if (word === 'COPY') {
    const [, from, paths] = /^(?:--from=(\w+) )?(.*)$/.exec(rest) as RegExpExecArray;
    const sources = (paths as string).split(' ');
    const target = sources.pop() as string;
    for (const source of sources) {
      if (!from && !names.includes(source)) throw new Error(`.dockerignore keeps ${source} away`);
      const origin = from ? join(stages.get(from)?.folder as string, source) : join(root, source);
      await cp(origin, join(here, target.endsWith('/') ? join(target, source) : target), { recursive: true });
    }
  } else if (word === 'RUN') {
    const env = { ...process.env, ...stage.env };
    await promisify(execFile)('sh', ['-c', rest], { cwd: here, env, timeout: RUN_WITHIN_MS });
  } else if (word === 'ENV') {
    stage.env = { ...stage.env, ...Object.fromEntries(rest.split(' ').map((pair) => pair.split('='))) };
  } else if (word === 'USER') {
    stage.user = rest;
  } else if (word === 'CMD') {
    stage.command = JSON.parse(rest);
  } else if (word === 'HEALTHCHECK') {
    stage.healthCheck = JSON.parse(rest.slice(rest.indexOf('CMD ') + 4));
  } else if (word !== 'EXPOSE') {
    throw new Error(`${word} is not known here`);
  }
}
