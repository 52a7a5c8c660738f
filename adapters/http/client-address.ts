import { isIP, isIPv6 } from 'node:net';
import type { Request } from 'express';

/**
 * Returns the address that identifies a client, for example for the limit of rejected credentials. It is an IPv4
 * address, or the /64 network of an IPv6 address, because the owner of such a network can use all addresses in it. If a
 * trusted proxy states a valid address, with or without a port, this address is used. Otherwise, the address of the
 * connection is used.
 */
export function getClientAddress({ ip = '', socket }: Pick<Request, 'ip' | 'socket'>): string {
  const stated = removePort(ip);
  const address = isIP(stated) ? stated : (socket.remoteAddress ?? '');
  return isIPv6(address) ? getNetwork(address) : address;
}

/**
 * Removes the port of an address, and the brackets around an IPv6 address: some proxies send them in `X-Forwarded-For`.
 */
export function removePort(address: string): string {
  const [, inBrackets, ipv4] = /^(?:\[([^\]]*)\](?::\d*)?|([\d.]+):\d*)$/.exec(address) ?? [];
  return inBrackets ?? ipv4 ?? address;
}

/** The first six groups of an IPv4-mapped IPv6 address. */
const IPV4_MAPPED_PREFIX = '0:0:0:0:0:ffff';

/**
 * Returns the IPv4 address of an IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2), or the /64 network of another
 * IPv6 address.
 */
function getNetwork(address: string): string {
  const [withoutZone] = address.split('%', 1);
  const canonical = new URL(`http://[${withoutZone}]`).hostname.slice(1, -1);
  const [start = [], end = []] = canonical.split('::').map((part) => part.split(':').filter(Boolean));
  const groups = [...start, ...Array(8 - start.length - end.length).fill('0'), ...end];
  if (groups.slice(0, 6).join(':') !== IPV4_MAPPED_PREFIX) return groups.slice(0, 4).join(':');
  const bytes = groups.slice(6).flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]);
  return bytes.join('.');
}
