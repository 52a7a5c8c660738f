import { isIP } from 'node:net';
import type { Request } from 'express';
import ipaddr from 'ipaddr.js';

/**
 * Returns the address that identifies a client, for example for the limit of rejected credentials. It is an IPv4
 * address, or the /64 network of an IPv6 address: the owner of such a network can use all addresses in it. If a trusted
 * proxy states a valid address, with or without a port, this address is used. Otherwise, the address of the connection
 * is used.
 */
export function getClientAddress({ ip = '', socket }: Pick<Request, 'ip' | 'socket'>): string {
  const stated = removePort(ip);
  const address = isIP(stated) ? stated : (socket.remoteAddress ?? '');
  if (!isIP(address)) return address;
  // Converts an IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2) to the IPv4 address.
  const parsed = ipaddr.process(address.split('%', 1)[0] as string);
  return parsed.kind() === 'ipv4' ? `${parsed}` : `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed}/64`)}`;
}

/**
 * Removes the port of an address, and the brackets around an IPv6 address: some proxies send them in `X-Forwarded-For`.
 */
export function removePort(address: string): string {
  const [, inBrackets, ipv4] = /^(?:\[([^\]]*)\](?::\d*)?|([\d.]+):\d*)$/.exec(address) ?? [];
  return inBrackets ?? ipv4 ?? address;
}
