import type { OffsetUnit } from './check.ts'

/**
 * Converts offsets of another unit to offsets of JavaScript strings. An offset beyond the text, or within a character, is
 * missing in the result.
 */
export function toUtf16(text: string, unit: OffsetUnit, offsets: readonly number[]): ReadonlyMap<number, number> {
  const converted = new Map<number, number>()
  let at = 0
  let count = 0
  for (const offset of [...new Set(offsets)].sort((left, right) => left - right)) {
    while (count < offset && at < text.length) {
      const point = text.codePointAt(at) ?? 0
      at += point > 0xffff ? 2 : 1
      count += SIZES[unit](point)
    }
    if (count === offset) converted.set(offset, at)
  }
  return converted
}

const SIZES: Readonly<Record<OffsetUnit, (point: number) => number>> = {
  Characters: () => 1,
  Utf16: (point) => (point > 0xffff ? 2 : 1),
  Bytes: (point) => (point > 0xffff ? 4 : point > 0x7ff ? 3 : point > 0x7f ? 2 : 1),
}
