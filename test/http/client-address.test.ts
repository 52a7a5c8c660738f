import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { clientAddressOf } from '../../adapters/http/client-address.ts';
import { suite } from '../support/suite.ts';

const socket = { remoteAddress: '192.0.2.1' } as Socket;

/** Groups of addresses. Those of a group count as one client. */
const equalAddresses = [
  ['203.0.113.1', '::ffff:203.0.113.1', '::ffff:cb00:7101', '0:0:0:0:0:FFFF:203.0.113.1'],
  ['203.0.113.2', '::ffff:203.0.113.2'],
  ['2001:db8::1', '2001:db8:0:0::2', '2001:DB8::ffff:ffff:ffff:ffff', '2001:db8:0:0:1:2:3:4', '2001:db8::1.2.3.4'],
  ['2001:db8:0:1::1', '2001:0db8:0000:0001:ffff::'],
  ['fe80::1', 'fe80::1%eth0', 'fe80::2%a-b.c'],
  ['::1', '::', '::2'],
  [undefined, '', 'unknown', '203.0.113.1:80', '[2001:db8::1]', 'x'.repeat(10_000), '203.0.113.256', '192.0.2.1'],
];

suite('clientAddressOf', {
  'returns an IPv4 address, the /64 of an IPv6 address, or the address of the connection if the stated one is invalid':
    () => {
      const keysOfGroups = equalAddresses.map((same) => new Set(same.map((ip) => clientAddressOf({ ip, socket }))));
      for (const [i, keys] of keysOfGroups.entries()) assert.equal(keys.size, 1, `${equalAddresses[i]}: ${[...keys]}`);
      assert.equal(new Set(keysOfGroups.flatMap((keys) => [...keys])).size, equalAddresses.length);
      for (const keys of keysOfGroups)
        for (const key of keys) assert.ok(key.length <= '255.255.255.255'.length + 10, key);
    },

  'returns an empty text if the connection is closed': () => {
    assert.equal(clientAddressOf({ ip: undefined, socket: {} as Socket }), '');
  },
});
