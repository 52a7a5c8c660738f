/** Does nothing. Use it as the handler of a failure that needs no reaction, with a comment that says why. */
export function doNothing(): void {}
