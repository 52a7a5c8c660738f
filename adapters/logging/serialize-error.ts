/**
 * Returns the loggable properties of an error and its causes. Other properties, such as those of a driver, may contain
 * records.
 */
export function serializeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: cutAtQuoteOrBrace(String(error)) };
  const { name: type, message, stack, cause } = error;
  const safeMessage = cutAtQuoteOrBrace(message);
  return {
    type,
    message: safeMessage,
    ...(stack?.includes(message) && { stack: stack.replace(message, () => safeMessage) }),
    ...('code' in error && { code: error.code }),
    ...(cause !== undefined && { cause: serializeError(cause) }),
    ...(error instanceof AggregateError && { errors: error.errors.map(serializeError) }),
  };
}

/**
 * Cuts a message off at its first quotation mark or brace, because the text after it may come from a record. Some
 * messages of MongoDB contain a whole record.
 */
function cutAtQuoteOrBrace(message: string): string {
  return message.replace(/["{].*/s, '…');
}
