/** Milliseconds since 1970 of a moment in RFC 3339, or of a time from now: `90d`, `24h`, `30m`, `0s`; NaN for another text. */
export function momentOf(text: string, now: number): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  return count === undefined ? parseTime(text) : now + Number(count) * (UNITS[unit] ?? 0)
}

function parseTime(text: string): number {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : NaN
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
