import { isIP, isIPv6 } from 'node:net';
import type { Request } from 'express';

/**
 * Whom a request counts for by its address: an IPv4 address, or the network of an IPv6 address, whose other half its
 * owner may choose. What a trusted proxy says counts where it is an address, and else the address of the connection.
 */
export function addressOf({ ip = '', socket }: Pick<Request, 'ip' | 'socket'>): string {
  const address = isIP(ip) ? ip : (socket.remoteAddress ?? '');
  return isIPv6(address) ? networkOf(address) : address;
}

const IPV4 = '0:0:0:0:0:ffff';

/** The /64 of an IPv6 address, or the IPv4 address that it stands for. */
function networkOf(address: string): string {
  const [withoutZone] = address.split('%', 1);
  const normal = new URL(`http://[${withoutZone}]`).hostname.slice(1, -1);
  const [start = [], end = []] = normal.split('::').map((part) => part.split(':').filter(Boolean));
  const groups = [...start, ...Array(8 - start.length - end.length).fill('0'), ...end];
  if (groups.slice(0, 6).join(':') !== IPV4) return groups.slice(0, 4).join(':');
  const bytes = groups.slice(6).flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]);
  return bytes.join('.');
}
