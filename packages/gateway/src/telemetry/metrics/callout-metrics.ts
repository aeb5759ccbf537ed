import type { Exemplars, SampledSpans } from './exemplars.ts'
import { families } from './families.ts'
import { observe, type Registry } from './metrics.ts'
import { createCallTimer } from './request-metrics.ts'

/** The external services that policies call through backends. */
export type ServiceKind = 'ExtAuthz' | 'ExtProc' | 'EndpointPicker' | 'RateLimit' | 'Embeddings'
export type CalloutKind = ServiceKind | 'BudgetStore' | 'CacheStore'

/** The outcomes of calls; `requests_total` has the decisions of the services. */
const calloutOutcomes = ['answered', 'failed', 'timeout', 'cancelled'] as const
export type CalloutOutcome = (typeof calloutOutcomes)[number]

/** `spans` belong to the request that the call is made for. */
export type RecordCallout = (outcome: CalloutOutcome, milliseconds: number, spans: SampledSpans | null) => void

/** Times calls of policies to external services; all series of a kind exist as soon as a policy uses it. */
export function createCalloutMetrics(registry: Registry, exemplars: Exemplars): (kind: CalloutKind) => RecordCallout {
  const { values } = registry
  const { buckets } = families.callout_duration_seconds
  const made = new Map<CalloutKind, RecordCallout>()
  const create = (kind: CalloutKind): RecordCallout => {
    const slots = new Map(
      calloutOutcomes.map((outcome) => [outcome, registry.slot('callout_duration_seconds', [kind, outcome])]),
    )
    const timeCall = createCallTimer(registry, ['Policy', kind], exemplars)
    return (outcome, milliseconds, spans) => {
      const slot = slots.get(outcome)
      if (slot !== undefined) {
        observe(values, slot, buckets, milliseconds / 1000)
        if (spans !== null) exemplars.note(slot, buckets, milliseconds / 1000, spans)
      }
      if (outcome === 'answered') timeCall(milliseconds, spans)
    }
  }
  return (kind) => {
    let record = made.get(kind)
    if (record === undefined) made.set(kind, (record = create(kind)))
    return record
  }
}
