import type { FaultScope } from '@portico/http/faults'
import { increase, type Registry } from './metrics.ts'

/** Counts unexpected exceptions; the series are there from the start, so that an alert sees the first one. */
export function createFaultMetrics(registry: Registry): (scope: FaultScope) => void {
  const { values } = registry
  const slot = (scope: FaultScope): number => registry.slot('internal_errors_total', [scope])
  const slots = { request: slot('request'), connection: slot('connection'), worker: slot('worker') }
  return (scope) => increase(values, slots[scope], 1)
}
