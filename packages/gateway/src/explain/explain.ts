import { guard } from '../llm/guards/explain.ts'
import { mcpAuthorization } from '../policies/backend/mcp/explain.ts'
import { networkAuthorization } from '../policies/frontend/network-authorization/explain.ts'
import {
  apiKey,
  keyLimitExceeded,
  keyNotForRoute,
  keyStoreFailed,
} from '../policies/traffic/api-key-authentication/explain.ts'
import { abort } from '../policies/traffic/abort/explain.ts'
import { authorization } from '../policies/traffic/authorization/explain.ts'
import { basic } from '../policies/traffic/basic-authentication/explain.ts'
import { budgetExceeded, budgetUnavailable, modelUnpriced } from '../policies/traffic/budget/explain.ts'
import { cors } from '../policies/traffic/cors/explain.ts'
import { csrf } from '../policies/traffic/csrf/explain.ts'
import { ownAnswer } from '../policies/traffic/direct-response/explain.ts'
import { extAuth } from '../policies/traffic/ext-auth/explain.ts'
import { extProc } from '../policies/traffic/ext-proc/explain.ts'
import { jwt } from '../policies/traffic/jwt-authentication/explain.ts'
import { rateLimit } from '../policies/traffic/rate-limit/explain.ts'
import type { Reason } from '../pipeline/context/reply.ts'
import type { CacheSearch } from '../records/cache-outcome.ts'
import type { RecordedCache, RecordReason, RequestRecord } from '../telemetry/recorder/record.ts'
import { type ConfigExplainer, type ConfigParts, type ConfigSubject, ConfigView, originOf } from './config-view.ts'
import { badProxyHeader, sessionLimit, tlsHandshake } from './connections.ts'
import type { DecidedBy, Explanation, ReadValue } from '../findings/explanation.ts'
import { badCall, clientGone, internal, malformed, requestTooLarge, responseTooLarge } from './messages.ts'
import { isMcpFailure, mcpFailure } from './mcp-failure.ts'
import { missingModel, modelNotAllowed, modelNotFound, noModelTarget, resourceNotFound } from './model-refusals.ts'
import { rehearsalRemarks, rehearsedAnswer } from './rehearsed.ts'
import { loopDetected, methodNotAllowed, misdirected, noListener, noRoute, upgradeNotAllowed } from './routing.ts'
import type { OtherRecords } from '../findings/other-records.ts'
import { type AttachedConfig, type Findings, value } from '../findings/subject.ts'
import { cut } from '../findings/words.ts'
import { unexplained } from './unexplained.ts'
import { attemptRefused, backendAnswer, upstream } from './upstream.ts'

/** The config that decided, if it is still stored, and the generation of the current config. */
export interface ExplainedConfig extends ConfigParts {
  readonly live: number
  /** Whether an earlier process decided, whose generations were numbered separately. */
  readonly isEarlier: boolean
}

/**
 * Explains why a recorded request was decided as it was, and what would have passed. `others` are the records that show
 * which requests used up a limit.
 */
export function explain(
  record: RequestRecord,
  config: ExplainedConfig,
  others: OtherRecords | null = null,
): Explanation {
  const { reason } = record
  const view = new ConfigView(config)
  const { found: all, held } = findingsOf(record, { view, others, isBrief: false })
  const found = config.isKnown ? all : withoutConfig(all)
  return {
    id: record.id,
    status: record.status,
    outcome: record.outcome,
    code: found.code ?? reason?.code ?? 'passed',
    headline: found.headline,
    decidedBy: decidedBy(reason, held, found),
    config: {
      generation: record.generation,
      live: config.live,
      isExact: config.isKnown,
    },
    values: [...(found.values ?? []), ...modelValues(record)],
    rules: found.rules ?? [],
    candidates: found.candidates ?? [],
    spending: found.spending ?? null,
    calls: (record.calls ?? []).map(({ target, status, error, from, to }) => {
      return { target, status, error, tookMs: from === null || to === null ? null : Math.round((to - from) / 1000) }
    }),
    wouldPass: found.wouldPass ?? [],
    steps: (record.steps ?? []).map(({ step, phase, outcome }) => ({ step, phase, outcome })),
    remarks: [
      ...(found.remarks ?? []),
      ...shadowRemarks(record),
      ...rehearsalRemarks(record),
      ...remarksOn(record, config),
    ],
  }
}

/** Returns the outcomes of shadow policies in words. */
function shadowRemarks({ shadows = [] }: RequestRecord): string[] {
  return shadows.map(({ policy, text }) => `shadow of ${policy}: ${text}`)
}

/** The headline alone, from the record itself: reads no config and no other record. */
export function headlineOf(record: RequestRecord): string {
  const { found } = findingsOf(record, { view: NO_CONFIG, others: null, isBrief: true })
  return cut(found.headline, LONGEST_HEADLINE)
}

const LONGEST_HEADLINE = 300
const NO_CONFIG = new ConfigView({
  isKnown: false,
  ir: { binds: [], listeners: [], routes: [], backends: [], policies: [] },
  locate: () => null,
})

function findingsOf(
  record: RequestRecord,
  at: Pick<ConfigSubject, 'view' | 'others' | 'isBrief'>,
): { found: Findings; held: AttachedConfig | null } {
  const { reason } = record
  if (reason === null) {
    const own: RecordReason = { kind: 'Upstream', policy: null, phase: null, code: 'backend_answered', values: {} }
    const subject: ConfigSubject = { ...at, record, reason: own, held: null }
    // The HTTP status of an MCP message does not show how the message ended.
    if (isMcpFailure(record.mcp)) return { found: mcpFailure(subject), held: null }
    const rehearsed = rehearsedAnswer(record)
    if (rehearsed !== null) return { found: rehearsed, held: null }
    return { found: record.status < 500 ? passed(record) : backendAnswer(subject), held: null }
  }
  const subject: ConfigSubject = { ...at, record, reason, held: heldBy(record, reason, at.view) }
  return { found: explainerOf(record, reason)(subject), held: subject.held }
}

/** The config of the policy that decided. */
function heldBy(record: RequestRecord, { policy, phase }: RecordReason, view: ConfigView): AttachedConfig | null {
  if (policy === null) return null
  const section = policy === 'networkAuthorization' ? 'frontend' : phase === 'backend' ? 'backend' : 'traffic'
  return view.held(section, policy, record.keys, phase === 'gateway' ? 'gateway' : 'route')
}

function explainerOf(record: RequestRecord, { kind, code, policy, phase }: RecordReason): ConfigExplainer {
  if (MCP_CODES.has(code) && isMcpFailure(record.mcp)) return mcpFailure
  const byCode = BY_CODE.get(code)
  if (byCode !== undefined) return byCode
  if (record.method === null && !WITHOUT_HTTP.has(record.protocol)) return malformed
  const byKind = isReason(kind) ? BY_KIND[kind] : unexplained
  if (kind === 'DirectResponse' && policy === 'cors') return cors
  if (phase === 'backend' && kind === 'UpstreamFailure') return attemptRefused
  if (kind === 'InvalidRequest' && record.protocol === 'http' && record.backend === null) return malformed
  return byKind
}

/**
 * Codes of backend failures. For MCP messages, the explanation names the target from the record instead of the backend.
 */
const MCP_CODES: ReadonlySet<string> = new Set(['upstream_failure', 'request_timeout', 'timeout'])

/** Protocols whose records have no method, although nothing was malformed. */
const WITHOUT_HTTP: ReadonlySet<string> = new Set(['tcp', 'tls', 'udp'])

const BY_CODE = new Map<string, ConfigExplainer>([
  ['route_not_found', noRoute],
  ['listener_not_found', noListener],
  ['misdirected', misdirected],
  ['loop_detected', loopDetected],
  ['method_not_allowed', methodNotAllowed],
  ['upgrade_not_allowed', upgradeNotAllowed],
  ['request_too_large', requestTooLarge],
  ['response_too_large', responseTooLarge],
  ['model_not_found', modelNotFound],
  ['model_not_allowed', modelNotAllowed],
  ['file_not_found', resourceNotFound],
  ['batch_not_found', resourceNotFound],
  ['provider_gone', resourceNotFound],
  ['no_batch_call', resourceNotFound],
  ['budget_exceeded', budgetExceeded],
  ['budget_unavailable', budgetUnavailable],
  ['model_unpriced', modelUnpriced],
  ['key_limit_exceeded', keyLimitExceeded],
  ['key_not_for_route', keyNotForRoute],
  ['key_store_failed', keyStoreFailed],
  ['missing_model', missingModel],
  ['no_model_target', noModelTarget],
  ['mcp_denied', mcpAuthorization],
  ['address_refused', upstream],
  ['request_timeout', upstream],
  ['network_authorization', networkAuthorization],
  ['bad_proxy_header', badProxyHeader],
  ['tls_refused', tlsHandshake],
  ['max_sessions', sessionLimit],
  ['max_sessions_per_address', sessionLimit],
])

/** Every reason has an explanation: a new reason does not compile without one. */
const BY_KIND: Readonly<Record<Exclude<Reason, 'Upstream'>, ConfigExplainer>> = {
  DirectResponse: ownAnswer,
  NotFound: noRoute,
  JwtAuth: jwt,
  BasicAuth: basic,
  ApiKeyAuth: apiKey,
  Authorization: authorization,
  ExtAuth: extAuth,
  ExtProc: extProc,
  InferencePool: upstream,
  Abort: abort,
  Csrf: csrf,
  RateLimit: rateLimit,
  PromptGuard: guard,
  InvalidRequest: badCall,
  LoopDetected: loopDetected,
  NoHealthyBackend: upstream,
  UpstreamFailure: upstream,
  Timeout: upstream,
  ClientGone: clientGone,
  Internal: internal,
}

/** Whether the reason is known; records of another version may have other reasons. */
function isReason(kind: string): kind is keyof typeof BY_KIND {
  return Object.hasOwn(BY_KIND, kind)
}

function decidedBy(reason: RecordReason | null, held: AttachedConfig | null, { place }: Findings): DecidedBy | null {
  if (reason === null && place === undefined) return null
  return {
    policy: reason?.policy ?? null,
    phase: reason?.phase ?? null,
    origin: held === null ? null : originOf(held.attachment),
    place: place ?? null,
  }
}

function passed(record: RequestRecord): Findings {
  const { route, backend, endpoint, status, isSlow, took } = record
  const slow = isSlow ? ` after ${Math.round(took / 1000)} ms` : ''
  const by = route === null ? 'the gateway' : `route ${route}`
  const address = endpoint === null || endpoint === backend ? '' : ` (${endpoint})`
  const answer = status === 0 ? '' : `answered ${status}${slow}`
  const way = backend === null ? by : `${by} → backend ${backend}${address}`
  const { modelChoice = '' } = record.llm ?? {}
  const cached = record.llm?.cache?.status === 'hit' ? 'from the response cache' : ''
  const notes = [modelChoice, cached].filter((note) => note !== '').join('; ')
  const choice = notes === '' ? '' : ` (${notes})`
  return { code: isSlow ? 'slow' : 'passed', headline: `${answer === '' ? way : `${way} ${answer}`}${choice}` }
}

/** The choice of the model, and what the response cache did. */
function modelValues({ llm }: RequestRecord): ReadValue[] {
  if (llm === null) return []
  return [
    ...(llm.modelChoice === undefined
      ? []
      : [value('llm.clientModel', llm.clientModel), value('llm.modelChoice', llm.modelChoice)]),
    ...(llm.cache === undefined ? [] : [value('llm.cache', cacheText(llm.cache))]),
  ]
}

/** `hit, 12 s old`, `hit, 3 s old, similarity 0.97 to 01h…`, `miss, nearest 0.91`, `bypass: temperature`. */
function cacheText({ status, ageSeconds, reason, search }: RecordedCache): string {
  const age = ageSeconds === undefined ? '' : `, ${ageSeconds} s old`
  const why = reason === undefined ? '' : `: ${reason}`
  return `${status}${age}${why}${search === undefined ? '' : searchText(status, search)}`
}

function searchText(status: string, { similarity, neighbor, skipped }: CacheSearch): string {
  if (skipped !== undefined) return `, no similar request: ${skipped}`
  if (similarity === undefined) return ', no similar request'
  const nearest = status === 'hit' ? 'similarity' : 'nearest with similarity'
  return `, ${nearest} ${similarity}${neighbor === undefined ? '' : ` to ${neighbor}`}`
}

/** The findings that need no config; the config is needed to tell what would have passed. */
function withoutConfig({ code, headline, values, rules }: Findings): Findings {
  return {
    headline,
    ...(code !== undefined && { code }),
    ...(values !== undefined && { values }),
    ...(rules !== undefined && { rules }),
  }
}

function remarksOn({ generation }: RequestRecord, { isKnown, isEarlier }: ExplainedConfig): string[] {
  if (isKnown) return []
  const which = isEarlier ? `config ${generation} of an earlier process` : `config ${generation}`
  return [
    `${which} decided the request and is no longer stored, so neither the location of the rule nor a change that would pass is known`,
  ]
}
