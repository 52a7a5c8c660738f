import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { addressOf } from '../../adapters/http/address.ts';
import { suite } from '../support/suite.ts';

const socket = { remoteAddress: '192.0.2.1' } as Socket;

/** Addresses, those that count as one side by side. */
const callers = [
  ['203.0.113.1', '::ffff:203.0.113.1', '::ffff:cb00:7101', '0:0:0:0:0:FFFF:203.0.113.1'],
  ['203.0.113.2', '::ffff:203.0.113.2'],
  ['2001:db8::1', '2001:db8:0:0::2', '2001:DB8::ffff:ffff:ffff:ffff', '2001:db8:0:0:1:2:3:4', '2001:db8::1.2.3.4'],
  ['2001:db8:0:1::1', '2001:0db8:0000:0001:ffff::'],
  ['fe80::1', 'fe80::1%eth0', 'fe80::2%a-b.c'],
  ['::1', '::', '::2'],
  [undefined, '', 'unknown', '203.0.113.1:80', '[2001:db8::1]', 'x'.repeat(10_000), '203.0.113.256', '192.0.2.1'],
];

suite('the address that a request counts for', {
  'is an IPv4 address, the /64 of an IPv6 address, or the connection’s where what a proxy says is no address': () => {
    const counted = callers.map((same) => new Set(same.map((ip) => addressOf({ ip, socket }))));
    for (const [i, keys] of counted.entries()) assert.equal(keys.size, 1, `${callers[i]}: ${[...keys]}`);
    assert.equal(new Set(counted.flatMap((keys) => [...keys])).size, callers.length);
    for (const keys of counted) for (const key of keys) assert.ok(key.length <= '255.255.255.255'.length + 10, key);
  },

  'is nothing where the connection is gone': () => {
    assert.equal(addressOf({ ip: undefined, socket: {} as Socket }), '');
  },
});
