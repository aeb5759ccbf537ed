/** Durations and sizes as people write them. Both return null for text that is neither. */

const millisecondsByUnit: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
}

const durationPart = /([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)/y

/** Go style: `100ms`, `1m30s`, `1.5h`, and a bare `0`. Milliseconds out. */
export function parseDuration(text: string): number | null {
  if (text === '0') return 0
  if (text === '') return null
  let total = 0
  durationPart.lastIndex = 0
  while (durationPart.lastIndex < text.length) {
    const part = durationPart.exec(text)
    if (part === null) return null
    total += Number(part[1]) * (millisecondsByUnit[part[2] ?? ''] ?? Number.NaN)
  }
  // Sums such as 0.1 + 0.2 leave dust far below a nanosecond.
  return Math.round(total * 1e6) / 1e6
}

const WHOLE_UNITS = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const

/** The shortest Go-style text of whole units: 90000 is `1m30s`. */
export function printDuration(milliseconds: number): string {
  let rest = milliseconds
  let text = ''
  for (const [unit, size] of WHOLE_UNITS) {
    const count = unit === 'ms' ? rest : Math.floor(rest / size)
    if (count > 0) text += `${count}${unit}`
    rest -= count * size
  }
  return text === '' ? '0s' : text
}

/** `k`, `M`, `G` count in thousands as in Kubernetes; `Ki`, `Mi`, `Gi` and `kb`, `mb`, `gb` count in 1024s. */
const bytesByUnit: Record<string, number> = { '': 1, k: 1e3, M: 1e6, G: 1e9, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 }
const bytesByWord: Record<string, number> = {
  b: 1,
  kb: 2 ** 10,
  mb: 2 ** 20,
  gb: 2 ** 30,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
}

export const byteSizePattern = '^[0-9]{1,10}(\\.[0-9]{1,6})?(k|M|G|Ki|Mi|Gi|[kKmMgG]?[bB]|[kKmMgG][iI][bB])?$'

export function parseByteSize(text: string): number | null {
  const [, number, word = ''] = /^([0-9]{1,10}(?:\.[0-9]{1,6})?)([a-z]*)$/i.exec(text) ?? []
  const unit = bytesByUnit[word] ?? bytesByWord[word.toLowerCase()]
  if (number === undefined || unit === undefined) return null
  const size = Number(number) * unit
  return Number.isInteger(size) ? size : null
}
