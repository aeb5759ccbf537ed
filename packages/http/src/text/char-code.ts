/**
 * Calls `charCodeAt` without a lookup on the text. Strings have more internal shapes (slices, joins, constants) than V8
 * caches at one call site; beyond that, V8 would look up the method again for each character.
 */
export function codeAt(text: string, at: number): number {
  return String.prototype.charCodeAt.call(text, at)
}
