import { isIP } from 'node:net';

/** Valid IPv6 addresses that Express rejects: those with an IPv4 address directly after `::`, or with punctuation in the zone. */
const UNSUPPORTED_BY_EXPRESS = /::\d+\.|%.*[^0-9a-z]/i;

/** Parses a value of `trust proxy` of Express. Returns `undefined` if Express would reject it. */
export function parseTrustProxy(value: string): boolean | number | string | undefined {
  if (value === 'true' || value === 'false') return value === 'true';
  if (/^\d{1,3}$/.test(value)) return Number(value);
  const isValidEntry = (entry: string): boolean => {
    const [address = '', bits, ...rest] = entry.trim().split('/');
    if (bits === undefined && ['loopback', 'linklocal', 'uniquelocal'].includes(address)) return true;
    const version = UNSUPPORTED_BY_EXPRESS.test(address) ? 0 : isIP(address);
    return (
      version !== 0 &&
      rest.length === 0 &&
      (bits === undefined ||
        (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= (version === 4 ? 32 : 128)) ||
        (version === 4 && isNetmask(bits)))
    );
  };
  return value.split(',').every(isValidEntry) ? value : undefined;
}

/** Returns whether a text is a netmask such as `255.255.0.0`: ones, then zeros. */
function isNetmask(text: string): boolean {
  const bits = text.split('.').map((byte) => Number(byte).toString(2).padStart(8, '0'));
  return isIP(text) === 4 && /^1+0*$/.test(bits.join(''));
}
