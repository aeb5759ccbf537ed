import { Link } from '@tanstack/react-router'
import { type PointerEvent, useId, useState } from 'react'
import { formatClock } from '../format/times.ts'
import { BOX, pathOf, peakOf, stepAt, type TimeScale, topOf, xOf } from './chart-shape.ts'
import type { Figure, Line } from './figures.ts'

/** Lines over time, and below them their values: at the pointer, or the latest. */
export function Chart({ figure, scale }: { figure: Figure; scale: TimeScale }) {
  const { title, lines, omitted, format } = figure
  const [pointed, setPointed] = useState<number | null>(null)
  const heading = useId()
  const top = topOf(lines)
  const last = scale.times.length - 1
  const at = pointed === null || pointed > last ? null : pointed
  const shown = at ?? last
  const onPointerMove = ({ clientX, currentTarget }: PointerEvent<SVGSVGElement>): void => {
    const { left, width } = currentTarget.getBoundingClientRect()
    setPointed(stepAt((clientX - left) / Math.max(width, 1), scale))
  }
  const text = (value: number | null | undefined): string => (value == null ? '–' : format(value))
  const latest = lines.map(({ name, values }) => `${name} ${text(values.at(-1))}`).join(', ')
  return (
    <section className="chart" aria-labelledby={heading}>
      <h2 id={heading}>{title}</h2>
      <p className="chart-top dim number">{format(top)}</p>
      <svg
        role="img"
        aria-label={`${title}, latest: ${latest === '' ? 'nothing' : latest}`}
        viewBox={`0 0 ${BOX.width} ${BOX.height}`}
        preserveAspectRatio="none"
        onPointerMove={onPointerMove}
        onPointerLeave={() => setPointed(null)}
      >
        {lines.map(({ name, kind, values }) => (
          <path key={name} className={`line line-${kind}`} d={pathOf(values, scale, top)} />
        ))}
        {at !== null && <path className="line-pointed" d={`M${xOf(scale.times[at] ?? 0, scale)} 0V${BOX.height}`} />}
      </svg>
      <p className="chart-times dim">
        <span>{formatClock(scale.from)}</span>
        <span>{formatClock(scale.to)}</span>
      </p>
      <table className="legend">
        <thead>
          <tr>
            <th>
              {omitted === 0 ? <span className="visually-hidden">Line</span> : `${omitted} smaller ones not shown`}
            </th>
            <th className="number">{at === null ? 'Latest' : formatClock(scale.times[at] ?? 0)}</th>
            <th className="number">Peak</th>
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr key={line.name}>
              <td>
                <LineName line={line} />
              </td>
              <td className="number">{text(line.values[shown])}</td>
              <td className="number">{text(peakOf(line.values))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function LineName({ line: { name, kind, filter } }: { line: Line }) {
  return (
    <span className="line-name">
      <svg className="line-sample" viewBox="0 0 24 6" aria-hidden="true">
        <path className={`line line-${kind}`} d="M0 3H24" />
      </svg>
      {filter === null ? (
        <span className="mono">{name}</span>
      ) : (
        <Link to="/requests" search={{ q: filter }} className="mono">
          {name}
        </Link>
      )}
    </span>
  )
}
