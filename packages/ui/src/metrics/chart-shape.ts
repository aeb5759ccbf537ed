/** The coordinate system of a chart; the page scales it. */
export const BOX = { width: 600, height: 120 } as const

/** When each step begins and ends, and what the whole width stands for; milliseconds since 1970. */
export interface TimeScale {
  readonly from: number
  readonly to: number
  readonly times: readonly number[]
  readonly seconds: readonly number[]
}

/** The path of one line: level for the length of each step, with gaps where there is no value. */
export function pathOf(values: readonly (number | null)[], scale: TimeScale, top: number): string {
  let path = ''
  let isDrawing = false
  for (const [step, value] of values.entries()) {
    const end = scale.times[step]
    if (value === null || end === undefined) {
      isDrawing = false
      continue
    }
    const y = round(BOX.height * (1 - Math.min(value / top, 1)))
    const left = xOf(end - (scale.seconds[step] ?? 0) * 1000, scale)
    path += isDrawing ? `V${y}` : `M${left} ${y}`
    path += `H${xOf(end, scale)}`
    isDrawing = true
  }
  return path
}

/** The value at the upper edge: the peak, or 1 when all values are 0. */
export function topOf(lines: readonly { values: readonly (number | null)[] }[]): number {
  const peak = Math.max(0, ...lines.map(({ values }) => peakOf(values) ?? 0))
  return peak === 0 ? 1 : peak
}

export function peakOf(values: readonly (number | null)[]): number | null {
  let peak: number | null = null
  for (const value of values) if (value !== null && (peak === null || value > peak)) peak = value
  return peak
}

/** The step at a place from 0 (left) to 1 (right); null where there is none. */
export function stepAt(place: number, { from, to, times, seconds }: TimeScale): number | null {
  const at = from + place * (to - from)
  const found = times.findIndex((end, step) => at <= end && at >= end - (seconds[step] ?? 0) * 1000)
  return found === -1 ? null : found
}

export function xOf(at: number, { from, to }: TimeScale): number {
  return round(Math.min(Math.max((at - from) / Math.max(to - from, 1), 0), 1) * BOX.width)
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
