import type { HistoryRange, SeriesView } from '@portico/gateway/admin-api'
import { formatRate, formatShare, formatTook } from '../format/numbers.ts'
import { type FilterTerm, printFilter } from '../requests/filter.ts'

/** One chart: lines over the same times. */
export interface Figure {
  readonly title: string
  readonly lines: readonly Line[]
  /** The number of lines with traffic that are not drawn. */
  readonly omitted: number
  readonly format: (value: number) => string
}

export interface Line {
  readonly name: string
  readonly kind: LineKind
  /** One value per time; null for a step without a measurement. */
  readonly values: readonly (number | null)[]
  /** Filter of the requests behind the line; null when no filter can express it. */
  readonly filter: string | null
}

type LineKind = 'refused' | 'failed' | (typeof KINDS)[number]

/** Styles of lines, which differ in color and in dashes. */
const KINDS = ['first', 'second', 'third', 'fourth', 'fifth'] as const

/** The charts of the page, six at most. Charts of models appear when models were called. */
export function figuresOf(view: SeriesView): readonly Figure[] {
  const { total, range } = view
  const all = { ...rateForm, omitted: 0 }
  const since = filterOf([], range)
  const outcome = (value: string): string => filterOf([{ name: 'outcome', value }], range)
  const took = (name: string, kind: LineKind, seconds: Line['values']): Line => ({
    ...{ name, kind, values: seconds, filter: since },
  })
  return [
    {
      ...all,
      title: 'Requests',
      lines: [{ name: 'all', kind: 'first', values: perSecond(view, total.requests), filter: since }],
    },
    {
      title: 'Denied and failed',
      omitted: 0,
      format: formatShare,
      lines: [
        {
          ...{ name: 'denied', kind: 'refused', values: shareOf(total.refused, total.requests) },
          filter: outcome('denied,limited'),
        },
        {
          ...{ name: 'failed', kind: 'failed', values: shareOf(total.failed, total.requests) },
          filter: outcome('failed,evicted'),
        },
      ],
    },
    {
      title: 'Time taken',
      omitted: 0,
      format: (seconds) => formatTook(seconds * 1_000_000),
      lines: [took('p50', 'first', total.p50), took('p95', 'second', total.p95), took('p99', 'third', total.p99)],
    },
    routesFigure(view),
    ...(view.models.length === 0 ? [] : modelFigures(view)),
  ]
}

const rateForm = { format: formatRate }

function routesFigure(view: SeriesView): Figure {
  const { routes, omitted, range } = view
  return {
    ...rateForm,
    title: 'Requests by route',
    omitted: omitted.routes + Math.max(0, routes.length - KINDS.length),
    lines: drawLines(routes, ({ name, requests }) => ({
      name: name === UNKNOWN_LABEL ? 'no route' : name,
      values: perSecond(view, requests),
      filter: namedFilter('route', name, range),
    })),
  }
}

function modelFigures(view: SeriesView): Figure[] {
  const { models, omitted, range } = view
  const more = omitted.models + Math.max(0, models.length - KINDS.length)
  const lineOf = ({ provider, model }: SeriesView['models'][number], values: readonly number[]) => ({
    name: provider === model ? model : `${provider} ${model}`,
    values: perSecond(view, values),
    filter: namedFilter('model', model, range),
  })
  const tokens = drawLines(models, (each) =>
    lineOf(
      each,
      each.input.map((input, step) => input + (each.output[step] ?? 0)),
    ),
  )
  return [
    { ...rateForm, title: 'Tokens by model', omitted: more, lines: tokens },
    {
      ...rateForm,
      title: 'Calls by model',
      omitted: more,
      lines: drawLines(models, (each) => lineOf(each, each.calls)),
    },
  ]
}

/** A filter for the requests of a range. */
function filterOf(terms: readonly FilterTerm[], range: HistoryRange): string {
  return printFilter([...terms, { name: 'since', value: range }])
}

/** A filter by name; null for names that stand for many values or for none. */
export function namedFilter(name: 'route' | 'model' | 'key', value: string, range: HistoryRange): string | null {
  return [UNKNOWN_LABEL, 'other', ''].includes(value) ? null : filterOf([{ name, value }], range)
}

/** The label of metrics for a missing value. */
const UNKNOWN_LABEL = 'unknown'

function drawLines<T>(from: readonly T[], lineOf: (each: T) => Omit<Line, 'kind'>): Line[] {
  return KINDS.flatMap((kind, index) => {
    const each = from[index]
    return each === undefined ? [] : [{ ...lineOf(each), kind }]
  })
}

function perSecond({ seconds }: SeriesView, counts: readonly number[]): number[] {
  return counts.map((count, step) => count / Math.max(seconds[step] ?? 1, 0.001))
}

function shareOf(counts: readonly number[], all: readonly number[]): (number | null)[] {
  return counts.map((count, step) => {
    const whole = all[step] ?? 0
    return whole === 0 ? null : count / whole
  })
}
