/** CEL counts positions in code points, JavaScript in UTF-16 units. They differ only for texts with surrogates. */
const SURROGATE = /[\ud800-\udfff]/

export function codePointLength(text: string): number {
  return SURROGATE.test(text) ? toCodePoint(text, text.length) : text.length
}

/** Converts a code point position, within the text or at its end, to a UTF-16 offset. */
export function toUnit(text: string, position: number): number {
  if (!SURROGATE.test(text)) return position
  let unit = 0
  for (let left = position; left > 0; left--) unit += isAstral(text, unit) ? 2 : 1
  return unit
}

export function toCodePoint(text: string, unit: number): number {
  if (!SURROGATE.test(text)) return unit
  let position = 0
  for (let at = 0; at < unit; position++) at += isAstral(text, at) ? 2 : 1
  return position
}

function isAstral(text: string, unit: number): boolean {
  return (text.codePointAt(unit) ?? 0) > 0xffff
}
