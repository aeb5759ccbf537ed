import { allowedOutcome } from '../../records/allowed-outcome.ts'
import { changedRequest } from './changed-request.ts'
import type { StoredDetails } from './details.ts'
import { AT, FLAGS, PROTOCOLS, SEPARATOR, type TextName, TEXTS, UNANSWERED, VERSIONS } from './layout.ts'
import { idOf, type RecordNames } from './record-id.ts'
import {
  RECORD_OUTCOMES,
  type RecordedAttempt,
  type RecordedStep,
  type RecordReason,
  type RequestRecord,
  type RequestSummary,
} from './record.ts'

/** The worker that wrote the records, and their names. */
export interface RecordSource {
  readonly names: RecordNames
  readonly worker: string
}

/** Returns the start of the request, by which records are ordered. */
export function startOf(entry: Buffer): number {
  return entry.readDoubleLE(AT.at)
}

export function serialOf(entry: Buffer): number {
  return entry.readUInt32LE(AT.serial)
}

/** Decodes a record; null if it was overwritten during the read, or is incomplete. */
export function decodeRecord(entry: Buffer, { names, worker }: RecordSource): RequestRecord | null {
  if (entry.length < AT.texts) return null
  const textEnd = AT.texts + entry.readUInt32LE(AT.textBytes)
  const end = textEnd + entry.readUInt32LE(AT.detailBytes)
  if (end > entry.length) return null
  const text = textsOf(entry.toString('utf8', AT.texts, textEnd))
  const details = detailsIn(entry.toString('utf8', textEnd, end))
  if (text === null || details === null) return null
  const flags = entry.readUInt8(AT.flags)
  const answered = entry.readUInt32LE(AT.answered)
  return {
    id: idOf(names, serialOf(entry)),
    requestId: text('requestId'),
    at: startOf(entry),
    took: entry.readUInt32LE(AT.took),
    answeredAfter: answered === UNANSWERED ? null : answered,
    protocol: PROTOCOLS[entry.readUInt8(AT.protocol)] ?? 'http',
    method: text('method'),
    host: text('host'),
    path: text('path'),
    version: VERSIONS[entry.readUInt8(AT.version)] || null,
    status: entry.readUInt16LE(AT.status),
    outcome: RECORD_OUTCOMES[entry.readUInt8(AT.outcome)] ?? 'passed',
    isSlow: (flags & FLAGS.slow) !== 0,
    reason: reasonOf(details),
    error: details.error ?? null,
    ...(details.rehearsal !== undefined && { rehearsal: details.rehearsal }),
    source: text('source'),
    bind: text('bind'),
    listener: text('listener'),
    route: text('route'),
    backend: text('backend'),
    endpoint: text('endpoint'),
    attempts: entry.readUInt8(AT.attempts),
    bytesIn: entry.readDoubleLE(AT.bytesIn),
    bytesOut: entry.readDoubleLE(AT.bytesOut),
    generation: entry.readUInt32LE(AT.generation),
    worker,
    key: text('key'),
    llm: details.llm ?? null,
    mcp: details.mcp ?? null,
    ...shadowsIn(details),
    keys: { listener: text('listenerKey'), route: text('routeKey'), backend: text('backendKey') },
    scheme: (flags & FLAGS.https) === 0 ? 'http' : 'https',
    sni: text('sni'),
    identity: text('identity'),
    isSampled: (flags & FLAGS.sampled) !== 0,
    steps: stepsOf(details, entry.readUInt8(AT.attempts) > 0),
    calls: callsOf(details, {
      target: text('endpoint'),
      answered: answered === UNANSWERED ? null : answered,
      status: entry.readUInt16LE(AT.status),
      attempts: entry.readUInt8(AT.attempts),
    }),
    requestHeaders: details.requestHeaders ?? null,
    afterPolicies: changedRequest(details.requestHeaders ?? {}, details.afterPolicies),
    responseHeaders: details.responseHeaders ?? null,
    requestBody: details.requestBody ?? null,
    responseBody: details.responseBody ?? null,
    variables: details.variables ?? null,
  }
}

/** Returns the summary of a record, for lists. */
export function summaryOf(record: RequestRecord): RequestSummary {
  const {
    keys: _keys,
    scheme: _scheme,
    sni: _sni,
    identity: _identity,
    isSampled: _isSampled,
    steps: _steps,
    calls: _calls,
    requestHeaders: _requestHeaders,
    afterPolicies: _afterPolicies,
    responseHeaders: _responseHeaders,
    requestBody: _requestBody,
    responseBody: _responseBody,
    variables: _variables,
    ...summary
  } = record
  return summary
}

function textsOf(texts: string): ((name: TextName) => string | null) | null {
  const parts = texts.split(SEPARATOR)
  if (parts.length !== TEXTS.length) return null
  return (name) => parts[TEXTS.indexOf(name)] || null
}

function detailsIn(text: string): StoredDetails | null {
  if (text === '') return {}
  try {
    return JSON.parse(text) as StoredDetails
  } catch {
    return null
  }
}

function shadowsIn({ shadows, allowedShadows }: StoredDetails): Pick<RequestRecord, 'shadows'> {
  if (shadows !== undefined) return { shadows }
  return allowedShadows === undefined ? {} : { shadows: allowedShadows.map(allowedOutcome) }
}

function reasonOf({ kind, decision, values = {}, mcp }: StoredDetails): RecordReason | null {
  const isDenied = mcp?.outcome === 'denied'
  if (kind === undefined && decision === undefined && !isDenied) return null
  const found = kind ?? decision?.reason ?? (isDenied ? 'Authorization' : 'Upstream')
  const { code, ...rest } = values
  return {
    kind: found,
    policy: decision?.names[decision.index] ?? POLICIES[found] ?? (isDenied ? 'mcpAuthorization' : null),
    phase: decision?.phase ?? null,
    code: typeof code === 'string' ? code : codeOf(found),
    values: rest,
  }
}

/** The policy for each reason that ends a request between or after steps. */
const POLICIES: Readonly<Record<string, string>> = {
  ExtProc: 'extProc',
  PromptGuard: 'promptGuard',
  NetworkAuthorization: 'networkAuthorization',
}

/** `NoHealthyBackend` → `no_healthy_backend`. */
function codeOf(kind: string): string {
  return kind.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()
}

function stepsOf(details: StoredDetails, wasCalled: boolean): RecordedStep[] | null {
  const { isWhole, decision, gatewaySteps = [], routeSteps = [], attemptSteps = [], responseSteps = [] } = details
  if (isWhole !== true) return decision === undefined ? null : stoppedList(details, decision)
  const passed = (names: readonly string[], phase: RecordedStep['phase']): RecordedStep[] =>
    names.map((step) => ({ step, phase, outcome: 'passed', status: null, reason: null, values: {}, at: null }))
  const stopped = decision === undefined ? [] : stoppedList(details, decision)
  const phase = decision?.phase ?? null
  // A reply of a request step passes the response steps; a reply of a response step does not.
  const after = passed(responseSteps, 'response')
  if (phase === 'gateway') return [...stopped, ...after]
  if (phase === 'route') return [...passed(gatewaySteps, 'gateway'), ...stopped, ...after]
  const before = [...passed(gatewaySteps, 'gateway'), ...passed(routeSteps, 'route')]
  if (phase === 'backend') return [...before, ...stopped, ...after]
  return [...before, ...(wasCalled ? passed(attemptSteps, 'backend') : []), ...(phase === null ? after : stopped)]
}

/** Returns the steps of the list that stopped the request: earlier steps passed, later steps were not reached. */
function stoppedList({ values = {} }: StoredDetails, decision: NonNullable<StoredDetails['decision']>): RecordedStep[] {
  const { names, index, phase, status, reason, at } = decision
  return names.map((step, i): RecordedStep => {
    if (i === index) return { step, phase, outcome: 'stopped', status, reason, values, at }
    const outcome = i < index ? 'passed' : 'notReached'
    return { step, phase, outcome, status: null, reason: null, values: {}, at: null }
  })
}

interface LastCall {
  target: string | null
  answered: number | null
  status: number
  attempts: number
}

function callsOf({ isWhole, calls = [], kind, error }: StoredDetails, last: LastCall): RecordedAttempt[] | null {
  if (isWhole !== true) return null
  if (last.target === null) return [...calls]
  if (last.answered === null) {
    // `calls` has the last call if it failed, but not if it was canceled when the request ended.
    if (last.attempts <= calls.length) return [...calls]
    const from = calls.at(-1)?.to ?? null
    return [
      ...calls,
      { target: last.target, status: null, error: 'no answer before the request ended', from, to: null },
    ]
  }
  const status = kind === undefined ? last.status : null
  return [
    ...calls,
    {
      target: last.target,
      status,
      // The response broke off after its head.
      error: kind === 'UpstreamFailure' ? (error ?? null) : null,
      from: calls.at(-1)?.to ?? null,
      to: last.answered,
    },
  ]
}
