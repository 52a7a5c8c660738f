import type { Writable } from 'node:stream';

/** A writable stream, with the properties of `tty.WriteStream` if it is a terminal. */
export type TerminalStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };
