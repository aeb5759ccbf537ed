import type { RecordedStep, RequestRecord } from '@portico/gateway/admin-api'

export interface WaterfallLine {
  /** Microseconds from the start of the request; null when not measured. */
  at: number | null
  name: string
  phase: string
  /** `call` is an attempt at a backend. */
  outcome: RecordedStep['outcome'] | 'call'
  values: Readonly<Record<string, unknown>>
  /** Shares of the whole time. */
  start: number | null
  width: number
}

/** Steps and backend calls in one order. A step lasts until the next line with a time. */
export function waterfall({ steps, calls, took }: RequestRecord): WaterfallLine[] {
  const before = (steps ?? []).filter(({ phase }) => phase !== 'response').map(stepLine)
  const after = (steps ?? []).filter(({ phase }) => phase === 'response').map(stepLine)
  const asked = (calls ?? []).map(({ target, status, error, from, to }) => ({
    at: from,
    until: to,
    name: target,
    phase: 'call',
    outcome: 'call' as const,
    values: { ...(status !== null && { status }), ...(error !== null && { error }) },
  }))
  const lines = [...before, ...asked, ...after]
  return lines.map(({ until, ...line }, index) => {
    const { at } = line
    if (at === null || took <= 0) return { ...line, start: null, width: 0 }
    const next = until ?? lines.slice(index + 1).find((later) => later.at !== null && later.at >= at)?.at ?? at
    const start = Math.min(at / took, 1)
    return { ...line, start, width: Math.min(Math.max(next - at, 0) / took, 1 - start) }
  })
}

function stepLine({ step, phase, outcome, status, reason, values, at }: RecordedStep) {
  const told = { ...(reason !== null && { reason }), ...(status !== null && { status }), ...values }
  return { at, until: null as number | null, name: step, phase, outcome, values: told }
}
