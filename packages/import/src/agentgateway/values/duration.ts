const UNITS: Readonly<Record<string, number>> = { ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3_600 }

/** Returns the seconds of a duration such as `1m30s`; null for other values. */
export function secondsOf(value: unknown): number | null {
  if (typeof value !== 'string' || !/^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/.test(value)) return null
  return [...value.matchAll(/([\d.]+)([a-zµ]+)/g)].reduce(
    (sum, [, number, unit]) => sum + Number(number) * (UNITS[unit ?? ''] ?? 0),
    0,
  )
}
