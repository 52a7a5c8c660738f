import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** TXT records, each as the list of its strings, or another response. */
export type DnsAnswer = readonly (readonly string[])[] | keyof typeof RESPONSE_CODES | 'silence';

const RESPONSE_CODES = { NODATA: 0, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 };
/** A longer response over UDP is truncated, so that the client asks again over TCP. */
const MAX_UDP_BYTES = 512;
const HEADER_BYTES = 12;
const TXT_TYPE = 16;

/** A setting without which a test could ask the name servers of the system. Nothing listens at this address. */
export const NO_DNS_SERVER = { DNS_SERVERS: '127.0.0.1:1' };

export interface DnsServer {
  /** The address with its port, as `DNS_SERVERS` takes it. */
  readonly address: string;
  /** Answers by name. By default, a name does not exist. */
  readonly answers: Map<string, DnsAnswer>;
  /** The questions in the order of their arrival, such as `udp a.example`. */
  readonly questions: string[];
}

/** Runs a name server on loopback during a test. */
export async function withDnsServer(test: (server: DnsServer) => Promise<void>): Promise<void> {
  const answers: DnsServer['answers'] = new Map();
  const questions: string[] = [];
  const answer = (query: Buffer, protocol: 'udp' | 'tcp'): Buffer | undefined => {
    const { name, type, end } = readQuestion(query);
    questions.push(`${protocol} ${name}`);
    const found = type === TXT_TYPE ? (answers.get(name) ?? 'NXDOMAIN') : 'NODATA';
    return found === 'silence' ? undefined : createResponse(query.subarray(0, end), found, protocol);
  };
  const tcp = createServer((socket) => {
    let received = Buffer.alloc(0);
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE()) return;
      const response = answer(received.subarray(2), 'tcp');
      if (response) socket.end(Buffer.concat([toUint16(response.length), response]));
    });
  }).listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  const { port } = tcp.address() as AddressInfo;
  const udp = createSocket('udp4');
  udp.on('message', (query, client) => {
    const response = answer(query, 'udp');
    if (response) udp.send(response, client.port, client.address);
  });
  udp.bind(port, '127.0.0.1');
  await once(udp, 'listening');
  try {
    await test({ address: `127.0.0.1:${port}`, answers, questions });
  } finally {
    udp.close();
    tcp.close();
  }
}

const VERIFICATION_RECORD = /(_advocacy-challenge\.[\w.-]+)\W+(?:value\W+)?([0-9a-f-]{36})/;

/** Creates the TXT record of a verification that a text shows, as a reader does at their DNS provider. */
export function createShownRecord({ answers }: DnsServer, text: string): void {
  const [, name, value] = VERIFICATION_RECORD.exec(text) ?? [];
  if (name && value) answers.set(name, [[value]]);
}

/** Reads the question of a query. `end` is the position after it. */
function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let position = HEADER_BYTES;
  for (let length = query.readUInt8(position); length > 0; length = query.readUInt8(position)) {
    labels.push(query.toString('latin1', position + 1, position + 1 + length));
    position += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(position + 1), end: position + 5 };
}

/** Creates the response to a query, which ends after its question. */
function createResponse(
  query: Buffer,
  answer: Exclude<DnsAnswer, 'silence'>,
  protocol: 'udp' | 'tcp',
  isTruncated = false,
): Buffer {
  const records = typeof answer === 'string' || isTruncated ? [] : answer;
  const code = typeof answer === 'string' ? RESPONSE_CODES[answer] : 0;
  // A response to a recursive query (0x8580), and 0x200 if it is truncated. Then the code, and the counts of its parts.
  const flags = 0x8580 + (isTruncated ? 0x200 : 0) + code;
  const header = [query.subarray(0, 2), ...[flags, 1, records.length, 0, 0].map(toUint16)];
  const response = Buffer.concat([...header, query.subarray(HEADER_BYTES), ...records.map(createTxtRecord)]);
  const isTooLong = protocol === 'udp' && response.length > MAX_UDP_BYTES;
  return isTooLong ? createResponse(query, answer, protocol, true) : response;
}

function createTxtRecord(strings: readonly string[]): Buffer {
  const data = Buffer.concat(strings.flatMap((text) => [Buffer.from([text.length]), Buffer.from(text, 'latin1')]));
  // The name is a pointer to the question. Then type, class, TTL (32 bits) and the length of the data.
  return Buffer.concat([...[0xc000 + HEADER_BYTES, TXT_TYPE, 1, 0, 0, data.length].map(toUint16), data]);
}

function toUint16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}
