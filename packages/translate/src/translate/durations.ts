import type { Fields } from '../resources/fields.ts'

const UNITS = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const

/** Reads a Gateway API duration (`1h30m`, `500ms`) in milliseconds; undefined when it is absent or invalid. */
export function durationAt(fields: Fields, key: string): number | undefined {
  const text = fields.text(key)
  if (text === undefined) return undefined
  if (!/^([0-9]{1,5}(h|m|s|ms)){1,4}$/.test(text)) return fields.report(key, 'must be a duration such as 500ms')
  return [...text.matchAll(/([0-9]+)(h|ms|m|s)/g)].reduce(
    (sum, [, digits, unit]) => sum + Number(digits) * UNITS[unit as keyof typeof UNITS],
    0,
  )
}
