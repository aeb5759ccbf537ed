import { type KeyboardEvent, type PointerEvent, useState } from 'react'
import { formatCount } from '../format/numbers.ts'
import { formatNanoDollars, spendingText } from './money.ts'
import { MEASURES, type Measure } from './search.ts'
import { heightOf, printTime, type TimeBucket } from './time-buckets.ts'

/** A bar for each day or hour, and below them the values of one: at the pointer, chosen by keys, or the latest. */
export function SpendChart({
  buckets,
  unit,
  show,
}: {
  buckets: readonly TimeBucket[]
  unit: 'hour' | 'day'
  show: Measure
}) {
  const [chosen, setChosen] = useState<number | null>(null)
  const heights = buckets.map((bucket) => heightOf(bucket, show))
  const top = Math.max(...heights.map((height) => height ?? 0))
  const at = chosen === null || chosen >= buckets.length ? buckets.length - 1 : chosen
  const shown = buckets[at]
  if (shown === undefined) return null
  const onPointerMove = ({ clientX, currentTarget }: PointerEvent<SVGSVGElement>): void => {
    const { left, width } = currentTarget.getBoundingClientRect()
    setChosen(
      Math.max(0, Math.min(buckets.length - 1, Math.floor(((clientX - left) / Math.max(width, 1)) * buckets.length))),
    )
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    setChosen(Math.max(0, Math.min(buckets.length - 1, at + step)))
  }
  const name = `${MEASURES[show]} by ${unit}`
  return (
    <figure className="spend-chart" aria-label={name}>
      <p className="dim number">{format(top, show)}</p>
      <div
        className="spend-bars"
        role="group"
        aria-label={`${name}; arrow keys choose one`}
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        <svg
          role="img"
          aria-label={`${name}, latest: ${valueText(buckets.at(-1) ?? shown, show)}`}
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          onPointerMove={onPointerMove}
          onPointerLeave={() => setChosen(null)}
        >
          <path className="spend-chosen" d={bar(at, buckets.length, HEIGHT)} />
          <path
            className="spend-bar"
            d={heights.map((height, i) => bar(i, buckets.length, ((height ?? 0) / Math.max(top, 1)) * HEIGHT)).join('')}
          />
          <path
            className="spend-unknown"
            d={buckets
              .map(({ unpricedCalls }, i) => (unpricedCalls > 0 ? bar(i, buckets.length, MARK_HEIGHT) : ''))
              .join('')}
          />
        </svg>
      </div>
      <p className="spend-times dim">
        <span>{printTime(buckets[0]?.start ?? 0, unit)}</span>
        <span>{printTime(buckets.at(-1)?.start ?? 0, unit)}</span>
      </p>
      <figcaption aria-live="polite">
        <span className="mono">{printTime(shown.start, unit)} UTC</span>: {spendingText(shown)},{' '}
        {formatCount(shown.calls)} calls, {formatCount(shown.tokens)} tokens
        {shown.unpricedCalls > 0 && `, ▲ ${formatCount(shown.unpricedCalls)} of unknown cost`}
      </figcaption>
    </figure>
  )
}

function valueText(bucket: TimeBucket, show: Measure): string {
  return show === 'cost' ? spendingText(bucket) : format(heightOf(bucket, show) ?? 0, show)
}

function format(value: number, show: Measure): string {
  return show === 'cost' ? formatNanoDollars(BigInt(Math.round(value))) : formatCount(value)
}

function bar(index: number, count: number, height: number): string {
  if (height === 0) return ''
  const step = WIDTH / count
  const gap = Math.min(2, step / 4)
  // A small amount is visible beside a large one.
  const top = HEIGHT - Math.max(height, 1)
  return `M${round(index * step + gap / 2)} ${HEIGHT}V${round(top)}h${round(step - gap)}V${HEIGHT}z`
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

const WIDTH = 600
const HEIGHT = 140
const MARK_HEIGHT = 4
