import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { getClientAddress } from '../../adapters/http/client-address.ts';
import { suite } from '../support/suite.ts';

const socket = { remoteAddress: '192.0.2.1' } as Socket;

/** Groups of addresses. The addresses of a group count as one client. An invalid address counts as that of `socket`. */
const equalAddresses = [
  ['203.0.113.1', '::ffff:203.0.113.1', '::ffff:cb00:7101', '0:0:0:0:0:FFFF:203.0.113.1'],
  [
    '203.0.113.2',
    '::ffff:203.0.113.2',
    '203.0.113.2:50001',
    '203.0.113.2:',
    '[::ffff:203.0.113.2]:80',
    '[203.0.113.2]',
  ],
  ['2001:db8::1', '2001:db8:0:0::2', '2001:DB8::ffff:ffff:ffff:ffff', '2001:db8:0:0:1:2:3:4', '2001:db8::1.2.3.4'],
  [
    '2001:db8:0:1::1',
    '2001:0db8:0000:0001:ffff::',
    '[2001:db8:0:1::2]',
    '[2001:db8:0:1::3]:443',
    '2001:db8:0:1::1:443',
  ],
  ['fe80::1', 'fe80::1%eth0', 'fe80::2%a-b.c', '[fe80::1%eth0]:443'],
  ['::1', '::', '::2'],
  [
    ...[undefined, '', 'unknown', 'x'.repeat(10_000), '203.0.113.256', '192.0.2.1', '192.0.2.1:80'],
    ...[
      '203.0.113.1:80:80',
      '203.0.113.1:x',
      '[2001:db8::1',
      '2001:db8::1]',
      '[2001:db8::1]80',
      '[]:80',
      ':80',
      '[[::1]]',
    ],
  ],
];

suite('getClientAddress', {
  'returns an IPv4 address, the /64 network of an IPv6 address, or for an invalid `ip` the address of the connection':
    () => {
      const resultSets = equalAddresses.map((group) => new Set(group.map((ip) => getClientAddress({ ip, socket }))));
      for (const [i, set] of resultSets.entries()) assert.equal(set.size, 1, `${equalAddresses[i]}: ${[...set]}`);
      assert.equal(new Set(resultSets.flatMap((set) => [...set])).size, equalAddresses.length);
      for (const set of resultSets)
        for (const result of set) assert.ok(result.length <= '255.255.255.255'.length + 10, result);
    },

  'returns an empty text if the connection is closed': () => {
    assert.equal(getClientAddress({ ip: undefined, socket: {} as Socket }), '');
  },
});
