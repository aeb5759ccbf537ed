const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  ms: 0.001,
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
}

/** Returns the seconds of a duration such as `5s`, `1m30s` or `2d`; null for other texts. */
export function secondsOf(text: string): number | null {
  let total = 0
  const rest = text.replaceAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/g, (_all, count: string, unit: string) => {
    total += Number(count) * (UNITS[unit] ?? 0)
    return ''
  })
  return rest === '' && text !== '' ? total : null
}
