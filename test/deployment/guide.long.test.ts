import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/compose.ts';
import { runOnDisposableMachine } from '../support/disposable-machine.ts';
import { suite } from '../support/suite.ts';

const guide = readFileSync(join(root, 'docs/operating.md'), 'utf8');

/** Returns the `sh` block of a section that contains a text. */
function findBlock(heading: string, text = ''): string {
  const section = guide.split(/^(?=##)/m).find((it) => it.split('\n')[0]?.replace(/^#+ /, '') === heading) ?? '';
  const blocks = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block as string);
  const [block, ...others] = blocks.filter((it) => it.includes(text));
  assert.ok(block && others.length === 0, `${heading}: ${blocks.length} blocks`);
  return block;
}

/** Replacements of the programs that need a network, and functions of the tests. The checkout is built already. */
const withoutNetwork = String.raw`
apt-get() { [[ "$*" != *nginx* ]] || systemctl start nginx; }
git() { mkdir "$5" && cp -R /repository/{dist,deployment,docs,adapters,package.json,CHANGELOG.md} "$5" && ln -s /repository/node_modules "$5"; }
npm() { :; }
certbot() {
  mkdir -p /etc/letsencrypt/live/advocacy
  openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=test -keyout /etc/letsencrypt/live/advocacy/privkey.pem \
    -out /etc/letsencrypt/live/advocacy/fullchain.pem 2>/dev/null
}
[ -x /usr/bin/node ] || ln -s ${process.execPath} /usr/bin/node
status_of() { curl --silent --output /dev/null --write-out '%{http_code}\n' --header "Authorization: Bearer $1" http://127.0.0.1:3000/me; }
id_of() { grep -o '"id":"[^"]*' | head -n 1 | cut -d '"' -f 4; }
cd /root
`;

const install = [
  withoutNetwork,
  findBlock('Install'),
  findBlock('Configure'),
  findBlock('Start', 'daemon-reload'),
].join('\n');
const [, findNewBackups = ''] = /`(find \/var\/backups\/.*?)`/.exec(guide) ?? [];
const [findDeletions = '', ...repeatDeletions] = findBlock('Restore', 'journalctl').split('\n');

suite("the commands of the operator's guide, on a machine with systemd", {
  'install, start, proxy, back up, upgrade and restore the service': async () => {
    const output = await runOnDisposableMachine(String.raw`
${install}
key=$(${findBlock('Start', 'workspace create').trim()} | grep -o 'adv_.*')
echo "first key: $(status_of $key)"
systemd-analyze security --no-pager --threshold=30 advocacy advocacy-backup | grep 'Overall exposure'

echo '127.0.0.1 api.test go.test' >> /etc/hosts
${findBlock('Put a TLS proxy in front').replaceAll('YOUR_API_NAME', 'api.test').replaceAll('YOUR_LINK_NAME', 'go.test')}
curl --silent --insecure --head --retry 9 --retry-connrefused https://api.test/docs | grep -i -e HTTP -e strict
curl --silent --insecure --head https://go.test/unknown1 | grep -i -e HTTP -e strict
curl --silent --head http://go.test/unknown1 | grep -i location
${findBlock('Protect personal data')}

install --directory --owner advocacy /var/lib/advocacy/off-site
${findBlock('Back up and restore').replace('backup@backup.example.com:advocacy', '/var/lib/advocacy/off-site')}
test -s /var/lib/advocacy/.ssh/id_ed25519
touch --date '40 days ago' /var/backups/advocacy/2000-01-01T000000.db
member=$(advocacy member create --name Kim --email kim@contoso.example --json | id_of)
revoked=$(advocacy key create --json)
systemctl start advocacy-backup
echo "backups: $(ls /var/backups/advocacy | wc -l) here, $(ls /var/lib/advocacy/off-site | wc -l) off-site"
echo "new backups: $(${findNewBackups} | wc -l)"
echo "drill: $(
${findBlock('Practice the restore')}
)"

curl --silent --request DELETE --header "Authorization: Bearer $key" http://127.0.0.1:3000/members/$member
advocacy key delete $(id_of <<<"$revoked")
${findBlock('Upgrade')}
curl --silent --retry 9 --retry-connrefused http://127.0.0.1:3000/readyz
echo "version: $(readlink /opt/workspace-advocacy)"

BACKUP=$(ls /var/backups/advocacy/*.db | tail -n 2 | head -n 1)
${findBlock('Restore', 'mktemp').replace('BACKUP', '$BACKUP')}
echo "restored members: $(advocacy member list --json | grep -c "$member")"
log=$(${findDeletions.replace(/--since '.*?'/, "--since '1 hour ago'")})
echo "deletions: $(grep -c "\"recordId\":\"$member\"" <<<"$log"), $(grep -c "\"recordId\":\"$(id_of <<<"$revoked")\"" <<<"$log")"
${repeatDeletions
  .join('\n')
  .replace('member delete RECORD_ID', 'member delete $member')
  .replace('key delete RECORD_ID', 'key delete $(id_of <<<"$revoked")')}
curl --silent --retry 9 --retry-connrefused http://127.0.0.1:3000/readyz
echo "keys: $(status_of $key), $(status_of $(grep -o 'adv_[^"]*' <<<"$revoked"))"
echo "members: $(advocacy member list --json)"
`);
    const expected = [
      /^first key: 200$/,
      /level for advocacy\.service: [0-2]\./,
      /level for advocacy-backup\.service: [0-2]\./,
      /^HTTP\/1\.1 200 /,
      /^Strict-Transport-Security: /,
      /^HTTP\/1\.1 404 /,
      /^Strict-Transport-Security: /,
      /^Location: https:\/\/go\.test\/unknown1/,
      /^backups: 2 here, 2 off-site$/,
      /^new backups: 2$/,
      /^drill: ID /,
      / {2}Contoso {2}/,
      /version: \/opt\/workspace-advocacy-NEW$/,
      /^restored members: 1$/,
      /^deletions: 1, 1$/,
      /keys: 200, 401$/,
      /^members: \[\]$/,
    ];
    const lines = output.split('\n');
    for (const pattern of expected) {
      const index = lines.findIndex((line) => pattern.test(line));
      assert.ok(index >= 0, `${pattern} in:\n${output}`);
      lines.splice(0, index + 1);
    }
  },

  'run several processes, and restart one after the other': async () => {
    const output = await runOnDisposableMachine(String.raw`
${install}
echo 'STORAGE=memory' >> /etc/advocacy.env
sed --in-place '/_PORT=/d; /SQLITE_FILE=/d' /etc/advocacy.env
${findBlock('Run several processes', 'advocacy-ports')}
${findBlock('Run several processes', 'for port')}
advocacy workspace list || test $? = 2
for port in 3001 3002; do
  curl --silent --output /dev/null --write-out "$port: %{http_code}\n" http://127.0.0.1:1$port/unknown1
  curl --silent --output /dev/null --write-out "$port: %{http_code}\n" http://127.0.0.1:2$port/metrics
done
`);
    // The settings are accepted. Only the storage in memory has nothing for a command.
    assert.match(output, /error: STORAGE: must be sqlite or mongodb for this command/);
    for (const line of ['3001: 404', '3001: 200', '3002: 404', '3002: 200']) assert.ok(output.includes(line), output);
  },
});
