import type { RecordReason, RequestRecord } from '../telemetry/recorder/record.ts'
import { cors, csrf } from './browsers.ts'
import { type ConfigParts, ConfigView, originOf, type Said } from './config-view.ts'
import { badProxyHeader, tlsHandshake } from './connections.ts'
import { apiKey, basic, jwt } from './credentials.ts'
import type { DecidedBy, Explanation } from './explanation.ts'
import { rateLimit } from './limits.ts'
import { badCall, clientGone, internal, malformed, requestTooLarge, responseTooLarge } from './messages.ts'
import { methodNotAllowed, misdirected, noListener, noRoute, upgradeNotAllowed } from './routing.ts'
import { authorization, mcpAuthorization, networkAuthorization } from './rules.ts'
import { extAuth, extProc, guard, ownAnswer } from './services.ts'
import type { OtherRecords } from './other-records.ts'
import type { Explainer, Findings, Subject } from './subject.ts'
import { attemptRefused, backendAnswer, upstream } from './upstream.ts'

/** The config that decided, where it is kept, and the number of the one that is live. */
export interface ExplainedConfig extends ConfigParts {
  readonly live: number
  /** Whether a process before this one decided, whose configs had numbers of their own. */
  readonly isEarlier: boolean
}

/** Why a recorded request was decided as it was, and what would have passed. `others` tell who used a limit up. */
export function explain(
  record: RequestRecord,
  config: ExplainedConfig,
  others: OtherRecords | null = null,
): Explanation {
  const { reason } = record
  const view = new ConfigView(config)
  const { found: all, held } = findingsOf(record, { view, others })
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
    values: found.values ?? [],
    rules: found.rules ?? [],
    candidates: found.candidates ?? [],
    spending: found.spending ?? null,
    calls: (record.calls ?? []).map(({ target, status, error, from, to }) => {
      return { target, status, error, tookMs: from === null || to === null ? null : Math.round((to - from) / 1000) }
    }),
    wouldPass: found.wouldPass ?? [],
    steps: (record.steps ?? []).map(({ step, phase, outcome }) => ({ step, phase, outcome })),
    remarks: [...(found.remarks ?? []), ...remarksOn(record, config)],
  }
}

function findingsOf(
  record: RequestRecord,
  at: Pick<Subject, 'view' | 'others'>,
): { found: Findings; held: Said | null } {
  const { reason } = record
  if (reason === null) {
    if (record.status < 500) return { found: passed(record), held: null }
    const own: RecordReason = { kind: 'Upstream', policy: null, phase: null, code: 'backend_answered', values: {} }
    return { found: backendAnswer({ ...at, record, reason: own, held: null }), held: null }
  }
  const subject: Subject = { ...at, record, reason, held: heldBy(record, reason, at.view) }
  return { found: explainerOf(record, reason)(subject), held: subject.held }
}

/** What the config says of the policy that decided. */
function heldBy(record: RequestRecord, { policy, phase }: RecordReason, view: ConfigView): Said | null {
  if (policy === null) return null
  const section = policy === 'networkAuthorization' ? 'frontend' : phase === 'backend' ? 'backend' : 'traffic'
  return view.held(section, policy, record.keys, phase === 'gateway' ? 'gateway' : 'route')
}

function explainerOf(record: RequestRecord, { kind, code, policy, phase }: RecordReason): Explainer {
  const byCode = BY_CODE.get(code)
  if (byCode !== undefined) return byCode
  if (record.method === null) return malformed
  const byKind = BY_KIND.get(kind)
  if (kind === 'DirectResponse' && policy === 'cors') return cors
  if (phase === 'backend' && kind === 'UpstreamFailure') return attemptRefused
  if (kind === 'InvalidRequest' && record.protocol === 'http' && record.backend === null) return malformed
  return byKind ?? badCall
}

const BY_CODE = new Map<string, Explainer>([
  ['route_not_found', noRoute],
  ['listener_not_found', noListener],
  ['misdirected', misdirected],
  ['method_not_allowed', methodNotAllowed],
  ['upgrade_not_allowed', upgradeNotAllowed],
  ['request_too_large', requestTooLarge],
  ['response_too_large', responseTooLarge],
  ['mcp_denied', mcpAuthorization],
  ['address_refused', upstream],
  ['request_timeout', upstream],
  ['network_authorization', networkAuthorization],
  ['bad_proxy_header', badProxyHeader],
  ['tls_refused', tlsHandshake],
])

const BY_KIND = new Map<string, Explainer>([
  ['Authorization', authorization],
  ['JwtAuth', jwt],
  ['ApiKeyAuth', apiKey],
  ['BasicAuth', basic],
  ['RateLimit', rateLimit],
  ['Csrf', csrf],
  ['ExtAuth', extAuth],
  ['ExtProc', extProc],
  ['PromptGuard', guard],
  ['DirectResponse', ownAnswer],
  ['NoHealthyBackend', upstream],
  ['UpstreamFailure', upstream],
  ['Timeout', upstream],
  ['InvalidRequest', badCall],
  ['Internal', internal],
  ['ClientGone', clientGone],
])

function decidedBy(reason: RecordReason | null, held: Said | null, { place }: Findings): DecidedBy | null {
  if (reason === null && place === undefined) return null
  return {
    policy: reason?.policy ?? null,
    phase: reason?.phase ?? null,
    origin: held === null ? null : originOf(held.attachment),
    place: place ?? null,
  }
}

function passed({ backend, endpoint, status, isSlow, took }: RequestRecord): Findings {
  const slow = isSlow ? `, after ${Math.round(took / 1000)} ms` : ''
  return {
    code: isSlow ? 'slow' : 'passed',
    headline: `backend ${backend ?? ''} (${endpoint ?? ''}) answered ${status}${slow}`,
  }
}

/** What the record says by itself; what would have passed is for a config to say. */
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
  const which = isEarlier ? `config ${generation} of a process before this one` : `config ${generation}`
  return [`${which} decided and is not kept: where it said so, and what would have passed, cannot be told`]
}
