import type { Cost } from '../records/cost.ts'
import type { RequestContext } from '../pipeline/context/request-context.ts'
import { outcomeOf } from '../telemetry/recorder/recorder.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'

/**
 * The verdict about a request. `lost`: the client left or the request failed, so the record proves nothing about the
 * config.
 */
type Verdict = 'passed' | 'denied' | 'limited' | 'failed' | 'lost'

/** The decision of a gateway about a request. */
export interface Decision {
  readonly verdict: Verdict
  readonly status: number
  /** The reason of the decision as in logs, such as `NotFound`. */
  readonly kind: string
  /** The policy that denied the request; null when no policy did. */
  readonly policy: string | null
  readonly code: string | null
  readonly route: string | null
  readonly backend: string | null
  readonly model: ModelCall | null
}

export interface ModelCall {
  /** The name of the provider in the config. */
  readonly provider: string
  /** The model in the request to the provider. */
  readonly model: string
  /** The cost of the call. Null without a price policy; undefined when the cost is not to be compared. */
  readonly cost: Cost | null | undefined
}

/** Returns the decision that a record holds. */
export function recordedDecision(record: RequestRecord): Decision {
  const { reason, status, route, backend, llm } = record
  return {
    verdict: recordedVerdict(record),
    status,
    kind: reason?.kind ?? 'Upstream',
    ...{ policy: reason?.policy ?? null, code: reason?.code ?? null, route, backend },
    model:
      llm === null
        ? null
        : { provider: llm.providerName || llm.provider, model: llm.requestModel, cost: llm.cost ?? null },
  }
}

/** Returns the decision of the pipeline about a simulated request. */
export function simulatedDecision(rx: RequestContext): Decision {
  const { reason, status, decision, notes, route, llm, mcp } = rx
  const outcome = outcomeOf(rx)
  const verdict = outcome === 'aborted' ? 'lost' : outcome === 'failed' && reason === 'Upstream' ? 'passed' : outcome
  const policy = decision?.names[decision.index] ?? (mcp?.outcome === 'denied' ? 'mcpAuthorization' : null)
  const code = notes?.['code']
  return {
    verdict,
    status,
    kind: reason,
    policy,
    code: typeof code === 'string' ? code : null,
    route: route?.name ?? null,
    backend: route?.backends[rx.backendIndex]?.name ?? null,
    model:
      llm === null ? null : { provider: llm.providerName || llm.provider, model: llm.requestModel, cost: llm.cost },
  }
}

/** Returns a decision in words: `passed to shop by route orders`, `403 by authorization on route orders`. */
export function decisionWords({ verdict, status, kind, policy, code, route, backend, model }: Decision): string {
  const on = route === null ? '' : ` on route ${route}`
  if (verdict === 'passed') {
    const to = backend === null ? `answered ${status}` : `passed to ${backend}`
    return `${to}${on}${model === null ? '' : `, model ${model.provider}/${model.model}`}`
  }
  if (verdict === 'lost') return `the client left${on}`
  const why = code === null || code === policy ? '' : ` (${code})`
  return `${status} by ${policy ?? kind}${why}${on}`
}

/** Error reasons of failed backends; the config let such a request pass. */
const BACKEND_FAILURES = new Set(['Upstream', 'UpstreamFailure', 'NoHealthyBackend', 'Timeout'])

function recordedVerdict({ outcome, reason, attempts, backend }: RequestRecord): Verdict {
  switch (outcome) {
    case 'denied':
    case 'limited':
      return outcome
    case 'failed':
      return BACKEND_FAILURES.has(reason?.kind ?? 'Upstream') && backend !== null ? 'passed' : 'lost'
    case 'aborted':
      return attempts > 0 ? 'passed' : 'lost'
    case 'evicted':
    case 'slow':
    case 'passed':
      return 'passed'
  }
}
