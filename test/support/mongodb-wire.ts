import type { Socket } from 'node:net';
import { BSON, type Document } from 'mongodb';

/**
 * Offsets in a message of MongoDB's wire protocol (https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/). The
 * header has four 32-bit integers: length, request ID, ID of the request to which this is the response, operation code.
 */
export const REQUEST_ID_OFFSET = 4;
export const RESPONSE_TO_OFFSET = 8;
const OPERATION_OFFSET = 12;
const BODY_OFFSET = 16;
/**
 * The position of the name of the command in an OP_MSG. Before it are the flags (4 bytes), the kind of the section (1), the length of the
 * document (4) and the type of its first field (1).
 */
const COMMAND_NAME_OFFSET = 26;

const [OP_REPLY, OP_QUERY, OP_MSG] = [1, 2004, 2013];
const MORE_TO_COME_FLAG = 2;
const BSON_OPTIONS = { promoteValues: false, promoteBuffers: false };

/** Calls `onMessage` for each complete message that a socket receives. */
export function readMessages(socket: Socket, onMessage: (message: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 4 && rest.length >= rest.readInt32LE(0)) {
      const length = rest.readInt32LE(0);
      onMessage(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  });
}

/** Returns the name of the command of an OP_MSG, or `''` for another message. */
export function readCommandName(message: Buffer): string {
  if (message.readInt32LE(OPERATION_OFFSET) !== OP_MSG) return '';
  return message.toString('latin1', COMMAND_NAME_OFFSET, message.indexOf(0, COMMAND_NAME_OFFSET));
}

/** A command or a response. */
interface DecodedMessage {
  readonly document: Document;
  /** Whether the message is an OP_QUERY, which drivers send first on a connection. The response must be an OP_REPLY. */
  readonly isQuery: boolean;
  readonly expectsResponse: boolean;
}

/** Decodes a command or a response. Drivers send batches (such as the documents of an insert) as separate sections. */
export function decodeMessage(message: Buffer): DecodedMessage {
  const read = (at: number) => BSON.deserialize(message.subarray(at, at + message.readInt32LE(at)), BSON_OPTIONS);
  if (message.readInt32LE(OPERATION_OFFSET) === OP_QUERY) {
    return { document: read(message.indexOf(0, BODY_OFFSET + 4) + 9), isQuery: true, expectsResponse: true };
  }
  let document: Document = {};
  for (let at = BODY_OFFSET + 4; at < message.length; ) {
    const isBatch = message[at++] === 1;
    const end = at + message.readInt32LE(at);
    if (isBatch) {
      const nameEnd = message.indexOf(0, at + 4);
      const batch: Document[] = [];
      for (let i = nameEnd + 1; i < end; i += message.readInt32LE(i)) batch.push(read(i));
      document = { ...document, [message.toString('utf8', at + 4, nameEnd)]: batch };
    } else {
      document = { ...read(at), ...document };
    }
    at = end;
  }
  const expectsResponse = (message.readInt32LE(BODY_OFFSET) & MORE_TO_COME_FLAG) === 0;
  return { document, isQuery: false, expectsResponse };
}

let lastRequestId = 0;

/** Encodes a command or a response as an OP_MSG. With `asOpReply`, encodes the response to an OP_QUERY as an OP_REPLY. */
export function encodeMessage(document: Document, responseTo: number, asOpReply: boolean): Buffer {
  const body = BSON.serialize(document);
  const prefix = Buffer.alloc(asOpReply ? BODY_OFFSET + 20 : BODY_OFFSET + 5);
  prefix.writeInt32LE(prefix.length + body.length, 0);
  prefix.writeInt32LE(++lastRequestId, REQUEST_ID_OFFSET);
  prefix.writeInt32LE(responseTo, RESPONSE_TO_OFFSET);
  prefix.writeInt32LE(asOpReply ? OP_REPLY : OP_MSG, OPERATION_OFFSET);
  if (asOpReply) prefix.writeInt32LE(1, BODY_OFFSET + 16);
  return Buffer.concat([prefix, body]);
}
