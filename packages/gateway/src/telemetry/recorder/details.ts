import type { McpRecord } from '../../records/mcp-record.ts'
import type { ShadowOutcome } from '../../records/shadow-outcome.ts'
import { shortened } from './record-writer.ts'
import type { FailedCall, RecordedRequest, RecordedRun } from './facts.ts'
import { bodyText } from './body-text.ts'
import { changeOf, type StoredChange } from './changed-request.ts'
import type { RecordedBody, RecordedHeaders, RecordedLlm, RecordedMcp, RecordPhase, RecordValues } from './record.ts'
import type { RequestRedaction } from '../../redaction/request-redaction.ts'

/** The details after the texts of a record, as JSON. Steps are names only; their results follow from the decision. */
export interface StoredDetails {
  kind?: string
  error?: string
  rehearsal?: readonly string[]
  decision?: { phase: RecordPhase; names: readonly string[]; index: number; reason: string; status: number; at: number }
  values?: RecordValues
  gatewaySteps?: readonly string[]
  routeSteps?: readonly string[]
  attemptSteps?: readonly string[]
  /** Response steps of the backend (if it responded), the route and the listener. */
  responseSteps?: readonly string[]
  calls?: readonly FailedCall[]
  llm?: RecordedLlm
  mcp?: RecordedMcp
  shadows?: readonly ShadowOutcome[]
  /** In place of `shadows`, the names of policies that would have allowed the request and have nothing else to tell. */
  allowedShadows?: readonly string[]
  requestHeaders?: RecordedHeaders
  afterPolicies?: StoredChange
  responseHeaders?: RecordedHeaders
  requestBody?: RecordedBody
  responseBody?: RecordedBody
  variables?: RecordValues
  isWhole?: boolean
}

/** Encodes the details of a record; `none` leaves out heads and variables, which cost most. */
export function detailsOf(
  run: RecordedRun & Partial<RecordedRequest>,
  keep: 'heads' | 'none',
  redaction: RequestRedaction,
): string {
  const { llm, mcp, decision, reason, error, notes, rehearsal } = run
  const details: StoredDetails = {}
  if (reason !== 'Upstream') details.kind = reason
  if (error !== null) details.error = textOf(redaction, error)
  if (rehearsal !== null) details.rehearsal = rehearsal
  if (llm !== null) details.llm = llm.details(run.startedAt, shortened)
  if (mcp !== null) details.mcp = mcpDetails(mcp, redaction)
  if (run.shadows !== null) {
    details.shadows = run.shadows.outcomes.map((shadow) => ({
      ...shadow,
      text: textOf(redaction, shadow.text),
      values: bounded(redaction.values(shadow.values)),
    }))
  }
  if (decision !== null && decision !== undefined) {
    details.decision = { ...decision, at: micros(decision.at - run.startedAt) }
  }
  if (notes !== null && notes !== undefined) details.values = bounded(redaction.values(notes))
  if (keep === 'heads') addWhole(details, run, redaction)
  return JSON.stringify(details)
}

function addWhole(
  details: StoredDetails,
  run: RecordedRun & Partial<RecordedRequest>,
  redaction: RequestRedaction,
): void {
  const { listener, route, responseHeaders, failedCalls, startedAt } = run
  details.isWhole = true
  details.gatewaySteps = listener?.request?.names ?? []
  const backend = route?.backends[run.backendIndex]
  if (route !== null) {
    details.routeSteps = route.request?.names ?? []
    details.attemptSteps = [...(backend?.request?.names ?? []), ...(backend?.sign?.names ?? [])]
  }
  details.responseSteps = [
    ...(run.reason === 'Upstream' ? (backend?.response?.names ?? []) : []),
    ...(route?.response?.names ?? []),
    ...(listener?.response?.names ?? []),
  ]
  if (failedCalls !== null && failedCalls !== undefined) {
    details.calls = failedCalls.map((call) => ({
      ...call,
      error: call.error === null ? null : textOf(redaction, call.error),
      from: micros(call.from - startedAt),
      to: micros(call.to - startedAt),
    }))
  }
  addRequestHead(details, run, redaction)
  if (responseHeaders !== null && responseHeaders !== undefined) {
    details.responseHeaders = redaction.headers(responseHeaders)
  }
  if (run.keptBodies != null) addBodies(details, run, redaction)
  const variables = variablesOf(run)
  if (variables !== null) details.variables = bounded(redaction.values(variables))
}

/** Adds the request headers as received, and the changes of policies. */
function addRequestHead(
  details: StoredDetails,
  { headers, target, upstreamTarget }: Partial<RecordedRequest>,
  redaction: RequestRedaction,
): void {
  if (headers === undefined) return
  const came = (details.requestHeaders = redaction.headers({ forEach: (visit) => headers.forEachReceived(visit) }))
  const path = upstreamTarget === undefined || upstreamTarget === target ? null : redaction.target(upstreamTarget)
  const change = headers.isEdited ? changeOf(came, redaction.headers(headers)) : null
  if (path !== null || change !== null) details.afterPolicies = { ...change, ...(path !== null && { path }) }
}

function addBodies(
  details: StoredDetails,
  { keptBodies, headers, responseHeaders }: Partial<RecordedRequest>,
  redaction: RequestRedaction,
): void {
  if (keptBodies === null || keptBodies === undefined) return
  const request = headers === undefined ? null : bodyText(keptBodies.request, headers, redaction.body)
  const response = responseHeaders == null ? null : bodyText(keptBodies.response, responseHeaders, redaction.body)
  if (request !== null) details.requestBody = request
  if (response !== null) details.responseBody = response
}

function variablesOf(run: Partial<RecordedRequest>): RecordValues | null {
  const {
    jwt = null,
    apiKey = null,
    basicAuth = null,
    extAuth = null,
    extProc = null,
    metadata = null,
    pick = null,
  } = run
  if (
    jwt === null &&
    apiKey === null &&
    basicAuth === null &&
    extAuth === null &&
    extProc === null &&
    metadata === null &&
    pick === null
  )
    return null
  return {
    ...(jwt !== null && { jwt }),
    ...(apiKey !== null && { apiKey }),
    ...(basicAuth !== null && { basicAuth }),
    ...(extAuth !== null && { extauthz: extAuth.metadata }),
    ...(extProc !== null && { extproc: extProc }),
    ...(metadata !== null && { metadata }),
    ...(pick !== null && { inferencePool: pick }),
  }
}

/** Replaces values that are too long, because tokens and metadata can have any size. */
function bounded(values: RecordValues): RecordValues {
  const text = JSON.stringify(values)
  return text.length <= MAX_VALUES ? values : { unkept: `${text.length} characters` }
}

function textOf(redaction: RequestRedaction, text: string): string {
  return shortened(redaction.text(text))
}

function mcpDetails(facts: McpRecord, redaction: RequestRedaction): RecordedMcp {
  const { item } = facts
  return {
    method: shortened(facts.method),
    target: facts.target || (item?.target ?? ''),
    kind: item?.kind ?? null,
    name: item === null ? null : textOf(redaction, item.name),
    session: shortened(facts.session),
    version: shortened(facts.version),
    outcome: facts.outcome,
    errorCode: facts.errorCode,
    errorMessage: textOf(redaction, facts.errorMessage),
    failure: facts.failure,
    targetMillis: facts.targetMillis,
  }
}

function micros(milliseconds: number): number {
  return Math.max(0, Math.round(milliseconds * 1000))
}

const MAX_VALUES = 8192
