import type { Socket } from 'node:net';

/**
 * Offsets in a message of MongoDB's wire protocol
 * (https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/). The header has four 32-bit integers: length,
 * request ID, ID of the request to which this is the response, operation code.
 */
export const REQUEST_ID_OFFSET = 4;
export const RESPONSE_TO_OFFSET = 8;
const OPERATION_OFFSET = 12;
/**
 * The position of the name of the command in an OP_MSG. Before it are the flags (4 bytes), the kind of the section (1),
 * the length of the document (4) and the type of its first field (1).
 */
const COMMAND_NAME_OFFSET = 26;

const OP_MSG = 2013;

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
