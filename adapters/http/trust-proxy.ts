import { isIP } from 'node:net';
import proxyAddr from 'proxy-addr';

/** A value of the `trust proxy` setting of Express. */
export type TrustProxy = boolean | number | string;

/**
 * Parses a value of `trust proxy`. Returns `undefined` if Express would reject it, or would read an address differently than people
 * do, such as the octal number in `010.0.0.1`.
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
 * Returns the function with which Express checks whether an address is a trusted proxy, for a value of `trust proxy`. Throws if the
 * value is not valid.
 */
export function createProxyCheck(trustProxy: TrustProxy): (address: string, distance: number) => boolean {
  if (typeof trustProxy === 'boolean') return () => trustProxy;
  if (typeof trustProxy === 'number') return (_, distance) => distance < trustProxy;
  return proxyAddr.compile(trustProxy.split(',').map((entry) => entry.trim()));
}
