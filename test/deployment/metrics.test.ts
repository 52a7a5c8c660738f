import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { createApiKeySecret } from '../../core/access/api-key.ts';
import { root } from '../support/compose.ts';
import { shareDemoCampaign } from '../support/demo-link.ts';
import { send } from '../support/load.ts';
import { withProcess } from '../support/process.ts';
import { suite } from '../support/suite.ts';
import { withTemporaryFolder } from '../support/temporary-folder.ts';
import { waitUntil } from '../support/wait-until.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const { groups } = parse(read('deployment/alerts.yml'));
const { panels } = JSON.parse(read('deployment/grafana-dashboard.json'));
const expressions: string[] = [
  ...groups.flatMap(({ rules }: { rules: { expr: string }[] }) => rules.map(({ expr }) => expr)),
  ...panels.flatMap(({ targets }: { targets: { expr: string }[] }) => targets.map(({ expr }) => expr)),
];
const KEYWORDS = ['and', 'by', 'on', 'or', 'unless', 'without'];
const GROUPING = /\b(?:by|without|on)\s*\(([^)]*)\)/g;
/** The metric and the labels that Prometheus itself adds. */
const [UP, PROMETHEUS_LABELS] = ['up', ['instance', 'job']];

/** A metric in an expression of PromQL, with the names of the labels of its selector. */
interface Selector {
  readonly name: string;
  readonly labels: readonly string[];
}

function findSelectors(expression: string): Selector[] {
  const matches = expression.replaceAll(GROUPING, '').matchAll(/\b([a-z_]\w*)\b(?!\s*\()(?:\{(.*?)\})?/g);
  return [...matches]
    .map(([, name = '', selector = '']) => ({ name, labels: findLabels(selector) }))
    .filter(({ name }) => !KEYWORDS.includes(name) && name !== UP);
}

function findLabels(selector: string): string[] {
  return [...selector.matchAll(/(\w+)[=!]/g)].map(([, label]) => label as string);
}

/** Starts a service with all metrics, and passes the text of its metrics and the names of its own metrics to a test. */
function withMetrics(test: (text: string, ownNames: readonly string[]) => void): Promise<void> {
  const settings = { LINKS_PORT: '0', METRICS_PORT: '0', RATE_LIMITER: 'redis', REDIS_URL: 'redis://127.0.0.1:1' };
  const start = async (folder: string) => {
    const storage = { STORAGE: 'sqlite', SQLITE_FILE: join(folder, 'advocacy.db') };
    return withProcess({ ...settings, ...storage }, async ({ url, output }) => {
      const find = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(output.stdout)?.[1] as string;
      await fetch(`${url}/me`, { headers: { Authorization: `Bearer ${createApiKeySecret('0'.repeat(32))}` } });
      const { host, path } = await shareDemoCampaign(url);
      await send(find('Short links'), { path, headers: { Host: host } });
      let text = '';
      await waitUntil(async () => {
        text = await (await fetch(find('Metrics'))).text();
        return text.includes('status="401"') && text.includes('result="bot"');
      });
      const names = [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name as string);
      test(
        text,
        names.filter((name) => !/^(?:nodejs|process)_/.test(name)),
      );
    });
  };
  return withTemporaryFolder(start);
}

suite('the alert rules and the dashboard', {
  'use only metrics and labels that the service exposes': () =>
    withMetrics((text) => {
      const exposedLabels = new Set(PROMETHEUS_LABELS);
      const exposed = new Map<string, Set<string>>();
      for (const [, name = ''] of text.matchAll(/^# TYPE (\w+)/gm)) exposed.set(name, new Set());
      for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? /gm)) {
        exposed.set(name, new Set([...(exposed.get(name) ?? []), ...findLabels(labels)]));
        for (const label of findLabels(labels)) exposedLabels.add(label);
      }
      assert.ok(expressions.length >= 20);
      for (const expression of expressions) {
        const selectors = findSelectors(expression);
        assert.ok(selectors.length > 0 || expression.includes(UP), expression);
        for (const { name, labels } of selectors) {
          const known = exposed.get(name);
          assert.ok(known, `${name} in ${expression}`);
          if (known.size > 0) for (const label of labels) assert.ok(known.has(label), `${label} in ${expression}`);
        }
        // A counter with labels has no sample, and so no label, before it counts something.
        if (selectors.some(({ name }) => exposed.get(name)?.size === 0)) continue;
        for (const [, list = ''] of expression.matchAll(GROUPING)) {
          for (const label of list.split(/,\s*/)) assert.ok(exposedLabels.has(label), `${label} in ${expression}`);
        }
      }
    }),

  'cover all metrics of the service, and so does the guide': () =>
    withMetrics((_text, ownNames) => {
      const used = new Set(
        expressions.flatMap(findSelectors).map(({ name }) => name.replace(/_(?:bucket|count)$/, '')),
      );
      const [, section = ''] = read('docs/operating.md').split('## Monitor the service');
      const cells = [...section.matchAll(/^\| (`.*?) \|/gm)].map(([, cell]) => cell as string);
      const described = cells.flatMap((cell) => cell.match(/\b[a-z]+_\w+/g) ?? []);
      assert.ok(ownNames.length >= 6);
      for (const name of ownNames) {
        assert.ok(used.has(name), `${name} is neither in an alert rule nor in the dashboard`);
        assert.ok(described.includes(name), `${name} is not in docs/operating.md`);
      }
      for (const name of described) assert.ok(ownNames.includes(name) || used.has(name), name);
    }),
});
