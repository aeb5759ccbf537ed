import type { TraceEvent } from '../trace/trace-event.ts'
import type { RecordedAttempt, RecordedHeaders, RecordedStep, RequestRecord } from './record.ts'

/** The identity of the gateway in snapshots. */
interface Identity {
  readonly podName: string
  readonly namespace: string
  readonly gateway: string
}

/**
 * Rebuilds the trace of a request from its record, in the format and order of a live trace. Steps that passed are `apply`,
 * because the record does not have whether a step was skipped. An unknown time is that of the previous event.
 */
export function rebuildEvents(record: RequestRecord, env: Identity): TraceEvent[] {
  const events = new EventList()
  const { steps, calls, reason, keys } = record
  const ofPhase = (phase: RecordedStep['phase']): RecordedStep[] => (steps ?? []).filter((step) => step.phase === phase)
  events.add({ type: 'requestStarted' })
  if (record.method !== null) {
    events.add({ type: 'requestSnapshot', stage: 'initial request', requestState: initialState(record, env) })
  }
  addPolicies(events, ofPhase('gateway'))
  if (reason?.phase !== 'gateway' && record.listener !== null && record.method !== null) {
    const selectedRoute = keys.route
    const evaluatedRoutes = selectedRoute === null ? [] : [selectedRoute]
    events.add({ type: 'routeSelection', selectedRoute, evaluatedRoutes }, selectedRoute === null ? 'error' : 'info')
  }
  addPolicies(events, ofPhase('route'))
  if (record.requestHeaders !== null && record.attempts > 0) {
    events.add({ type: 'requestSnapshot', stage: 'route policies', requestState: stateBehindPolicies(record, env) })
  }
  addPolicies(events, ofPhase('backend'))
  for (const call of calls ?? lastCall(record)) addCall(events, call)
  if (record.answeredAfter !== null) events.at(record.answeredAfter)
  addPolicies(events, ofPhase('response'))
  if (record.status !== 0) {
    const response = { code: record.status, headers: record.responseHeaders ?? {} }
    events.add({ type: 'responseSnapshot', stage: 'final response', requestState: { response, env } })
  }
  events.at(record.took)
  const { status, error } = record
  const severity = error !== null || status === 0 || status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info'
  events.add({ type: 'requestFinished', status: status === 0 ? null : status, error }, severity)
  return events.list
}

class EventList {
  readonly list: TraceEvent[] = []
  #at = 0

  /** Sets the earliest time of the following events. */
  at(microseconds: number): void {
    this.#at = Math.max(this.#at, microseconds)
  }

  add(message: TraceEvent['message'], severity: TraceEvent['severity'] = 'info', start: number | null = null): void {
    this.list.push({ eventStart: start, eventEnd: this.#at, severity, message })
  }
}

function addPolicies(events: EventList, steps: readonly RecordedStep[]): void {
  const by = steps.find(({ outcome }) => outcome === 'stopped')?.step
  for (const { step: kind, phase, outcome, reason, status, values, at } of steps) {
    if (at !== null) events.at(at)
    if (outcome === 'stopped') {
      addRules(events, values)
      const { rules: _rules, ...others } = values
      const details = Object.keys(others).length === 0 ? {} : { details: others }
      const isBad = status !== null && status >= 400
      events.add(
        { type: 'policy', kind, phase, result: { type: 'stop', reason, status, ...details } },
        isBad ? 'warn' : 'info',
      )
      continue
    }
    const result = outcome === 'passed' ? { type: 'apply' } : { type: 'skip', reason: `${by} stopped the request` }
    events.add({ type: 'policy', kind, phase, result })
  }
}

/** Adds the rules of an authorization as an event of their own. */
function addRules(events: EventList, { rules }: RecordedStep['values']): void {
  if (Array.isArray(rules)) events.add({ type: 'authorizationResult', rules, result: 'deny' }, 'error')
}

function addCall(events: EventList, { target, status, error, from, to }: RecordedAttempt): void {
  if (from !== null) events.at(from)
  events.add({ type: 'backendCallStart', target })
  // The call was canceled by a timeout or by the client; a live trace has no result for it either.
  if (to === null) return
  events.at(to)
  const failed = error !== null || status === null || status >= 500
  const severity = failed ? 'error' : status >= 400 ? 'warn' : 'info'
  events.add({ type: 'backendCallResult', status, error }, severity, from ?? 0)
}

/** The only call of a request that passed, taken from its summary. */
function lastCall({ endpoint, status, answeredAfter, attempts, reason }: RequestRecord): RecordedAttempt[] {
  if (endpoint === null || answeredAfter === null || attempts !== 1 || reason !== null) return []
  return [{ target: endpoint, status, error: null, from: null, to: answeredAfter }]
}

function initialState(record: RequestRecord, env: Identity): object {
  const { path, requestHeaders } = record
  return requestState(record, { target: path ?? '', headers: requestHeaders ?? {} }, env)
}

/** Returns the snapshot of the request before the policies of the backend. */
function stateBehindPolicies(record: RequestRecord, env: Identity): object {
  const { afterPolicies, path, requestHeaders, variables } = record
  const target = afterPolicies?.path ?? path ?? ''
  const headers = afterPolicies?.headers ?? requestHeaders ?? {}
  return { ...requestState(record, { target, headers }, env), ...variables }
}

function requestState(
  { method, scheme, version, at, host, source }: RequestRecord,
  { target, headers }: { target: string; headers: RecordedHeaders },
  env: Identity,
): object {
  const [path = ''] = target.split('?', 1)
  return {
    request: {
      method,
      uri: `${scheme}://${host ?? ''}${target}`,
      path,
      pathAndQuery: target,
      host: host ?? '',
      scheme,
      version,
      headers,
      startTime: new Date(at).toISOString(),
    },
    source: sourceOf(source ?? ''),
    env,
  }
}

/** Splits `[::1]:80` or `127.0.0.1:80`. */
function sourceOf(source: string): { address: string; port: number } {
  const colon = source.lastIndexOf(':')
  return { address: source.slice(0, colon).replaceAll(/[[\]]/g, ''), port: Number(source.slice(colon + 1)) }
}
