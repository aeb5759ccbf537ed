/**
 * `latin1` returns bytes as text, one character code per byte; `latin1Slice` avoids the argument checks of `toString`.
 */
export function latin1(bytes: Buffer, start: number, end: number): string {
  return (bytes as Buffer & { latin1Slice(start: number, end: number): string }).latin1Slice(start, end)
}

/**
 * Calls `charCodeAt` without a lookup on the text. Strings have more internal shapes (slices, joins, constants) than V8
 * caches at one call site; beyond that, V8 would look up the method again for each character.
 */
export function codeAt(text: string, at: number): number {
  return String.prototype.charCodeAt.call(text, at)
}
