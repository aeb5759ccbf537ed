/** Positions in CEL count code points; JS counts UTF-16 units. Most texts have no difference. */
const SURROGATE = /[\ud800-\udfff]/

export function codePointLength(text: string): number {
  return SURROGATE.test(text) ? toCodePoint(text, text.length) : text.length
}

/** The UTF-16 offset of a code point. The position must be within the text or at its end. */
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
