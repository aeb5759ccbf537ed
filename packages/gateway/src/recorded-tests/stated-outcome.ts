import { explain } from '../explain/explain.ts'
import type { TestedConfig } from '../config-tests/tested-config.ts'
import type { JsonObject } from '../schema/kit.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'

/**
 * Returns the outcome of a record in the form of `expect` in a test; returns the reason as a string when a test can
 * expect nothing.
 */
export function statedOutcome(record: RequestRecord, { ir, locate }: TestedConfig): JsonObject | string {
  const { status, route, backend, reason, llm, afterPolicies, keys } = record
  if (status === 0) return 'the client left before a response'
  if (record.rehearsal !== undefined && record.rehearsal.length > 0) return 'a rehearsal delayed or aborted it'
  const explanation = explain(record, { isKnown: true, ir, locate, live: 1, isEarlier: false })
  const against = explanation.rules.find(({ isAgainst }) => isAgainst)
  const isStopped = reason !== null && reason.policy !== null
  const path = afterPolicies?.path ?? null
  const isOnly = (ir.routes.find(({ key }) => key === keys.route)?.backends.length ?? 0) <= 1
  return {
    status,
    route,
    ...(isStopped && { by: reason.policy }),
    ...(isStopped && against !== undefined && { rule: against.index + 1 }),
    ...(record.outcome === 'denied' || record.outcome === 'limited' ? { reason: explanation.code } : {}),
    // The test expects a backend only if the route has no other, because chance or load may choose another one.
    ...(backend !== null && isOnly && { backend }),
    ...(path !== null && backend !== null && !path.includes('…') && { upstream: { path } }),
    ...(llm !== null &&
      llm.requestModel !== '' &&
      isOnly && { llm: { provider: llm.providerName || llm.provider, model: llm.requestModel } }),
  }
}
