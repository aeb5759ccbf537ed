import type { Exemplars, SampledSpans } from './exemplars.ts'
import { families } from './families.ts'
import { observe, type Registry } from './metrics.ts'
import { createCallTimer } from './request-metrics.ts'

/** Whom policies ask about requests. */
export type CalloutKind = 'ExtAuthz' | 'ExtProc' | 'RateLimit'

/** What became of asking: whether an answer was a yes is for `requests_total` to say. */
export const calloutOutcomes = ['answered', 'failed', 'timeout', 'cancelled'] as const
export type CalloutOutcome = (typeof calloutOutcomes)[number]

/** `spans` are those of the request that is asked about. */
export type RecordCallout = (outcome: CalloutOutcome, milliseconds: number, spans: SampledSpans | null) => void

/** Times calls of policies to services outside; all series of a kind are there once a policy of it is. */
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
