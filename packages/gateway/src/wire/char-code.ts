/**
 * `charCodeAt`, known before the text is: texts have more inner shapes (slices, joins, constants) than V8 keeps in mind
 * for one place in the code, and beyond that it would look for the method anew at each character.
 */
export function codeAt(text: string, at: number): number {
  return String.prototype.charCodeAt.call(text, at)
}
