import { isIP } from 'node:net';
import proxyAddr from 'proxy-addr';
import { removePort } from './client-address.ts';

/** A value of the `trust proxy` setting of Express. */
export type TrustProxy = boolean | number | string;

/**
 * Parses a value of `trust proxy`. Returns `undefined` if Express would reject the value, or would read an address in
 * it differently than people do. For example, Express reads the first number of `010.0.0.1` as octal.
 */
export function parseTrustProxy(value: string): TrustProxy | undefined {
  if (value === 'true' || value === 'false') return value === 'true';
  if (/^\d{1,3}$/.test(value)) return Number(value);
  const addresses = value.split(',').map((entry) => entry.trim().split('/', 1)[0] as string);
  if (!addresses.every((address) => isIP(address) || /^[a-z]+$/.test(address))) return undefined;
  try {
    createProxyCheck(value);
    return value;
  } catch {
    return undefined;
  }
}

/**
 * Returns a function that checks whether an address is a trusted proxy, as Express does for this value of `trust
 * proxy`. Unlike Express, it ignores the port of an address. Throws if the value is not valid.
 */
export function createProxyCheck(trustProxy: TrustProxy): (address: string, distance: number) => boolean {
  if (typeof trustProxy === 'boolean') return () => trustProxy;
  if (typeof trustProxy === 'number') return (_, distance) => distance < trustProxy;
  const isTrusted = proxyAddr.compile(trustProxy.split(',').map((entry) => entry.trim()));
  return (address, distance) => isTrusted(removePort(address), distance);
}
