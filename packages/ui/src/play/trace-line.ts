import { isObject } from '@portico/http/json'
import type { TraceEvent } from '@portico/gateway/admin-api'
import { textOrJson } from '../api/unknown-values.ts'

/** An event of a trace in a line. */
interface TraceLine {
  readonly at: number
  readonly name: string
  readonly phase: string
  readonly kind: 'passed' | 'skipped' | 'stopped' | 'failed' | 'plain'
  readonly what: string
}

/** The events of a trace as lines, in order. Snapshots are left out, and skipped policies unless `withSkipped` is set. */
export function traceLines(events: readonly TraceEvent[], withSkipped: boolean): TraceLine[] {
  return events
    .filter(({ message }) => !QUIET.has(message.type))
    .map(lineOf)
    .filter(({ kind }) => withSkipped || kind !== 'skipped')
}

const QUIET: ReadonlySet<string> = new Set([
  'requestStarted',
  'requestSnapshot',
  'responseSnapshot',
  'policySelection',
  'backendCallStart',
])

function lineOf({ eventEnd, severity, message }: TraceEvent): TraceLine {
  const plain = { at: eventEnd, phase: '', kind: severity === 'error' ? ('failed' as const) : ('plain' as const) }
  const { type, kind, phase, result } = message
  if (type === 'policy' && isObject(result)) {
    const how = HOW[textOrJson(result['type'])] ?? 'plain'
    const what = [result['status'], result['reason'], printed(result['details'])].filter(
      (part) => part != null && part !== '',
    )
    return {
      at: eventEnd,
      name: textOrJson(kind),
      phase: textOrJson(phase ?? ''),
      kind: how,
      what: what.map(textOrJson).join(' · '),
    }
  }
  if (type === 'routeSelection')
    return { ...plain, name: 'route', what: textOrJson(message['selectedRoute'] ?? 'none') }
  if (type === 'backendCallResult') {
    const { status, error } = message
    return { ...plain, name: 'backend', what: textOrJson(error ?? status) }
  }
  if (type === 'requestFinished') {
    const { status, error } = message
    return {
      ...plain,
      name: 'finished',
      what: [status, error]
        .filter((part) => part != null)
        .map(textOrJson)
        .join(' · '),
    }
  }
  const { type: _type, ...rest } = message
  return { ...plain, name: type, what: printed(rest) }
}

const HOW: Readonly<Record<string, TraceLine['kind']>> = { apply: 'passed', skip: 'skipped', stop: 'stopped' }

function printed(value: unknown): string {
  if (!isObject(value)) return ''
  return Object.entries(value)
    .filter(([, each]) => each !== null && !(Array.isArray(each) && each.length === 0))
    .map(([name, each]) => `${name} ${brief(each)}`)
    .join(', ')
}

/** A short text of a value: an object of plain values as these values, a number with at most three decimals. */
function brief(value: unknown): string {
  if (typeof value === 'number') return String(Math.round(value * 1000) / 1000)
  const parts = isObject(value) ? Object.values(value) : []
  const isFlat = parts.length > 0 && parts.every((part) => typeof part === 'string' || typeof part === 'number')
  return isFlat ? parts.map(textOrJson).join(' ') : textOrJson(value)
}
