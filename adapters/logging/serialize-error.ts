/** Returns the loggable properties of an error and its causes. Other properties, such as those of a driver, may contain records. */
export function serializeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: removeQuotedText(String(error)) };
  const { name: type, message, stack, cause } = error;
  const safeMessage = removeQuotedText(message);
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
 * Cuts a message off at its first quotation mark or brace, because the text after it may come from a record. Some messages of
 * MongoDB contain a whole record.
 */
function removeQuotedText(message: string): string {
  return message.replace(/["{].*/s, '…');
}
