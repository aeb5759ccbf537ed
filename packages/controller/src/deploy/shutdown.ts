import { valueAt } from './json.ts'
import type { EnvVar, Typed } from './parameters.ts'

/** What the data plane takes at most, in seconds. */
const MAX_MIN = 3_600
const MAX_DEADLINE = 86_400

const usual = { min: 10, max: 60 }

/** Seconds until Kubernetes kills a Pod that is to end. */
export function gracePeriod({ shutdown = usual }: Typed): number {
  return shutdown.max
}

/**
 * The same for the data plane: it is done a little before, because what it cuts by itself ends better than what is
 * killed. What `rawConfig` says holds where parameters say nothing.
 */
export function shutdownVariables({ shutdown, rawConfig }: Typed): EnvVar[] {
  const { min, max } = shutdown ?? usual
  const whole = max - (max > 10 ? 5 : 1)
  const waiting = Math.min(min, MAX_MIN, Math.max(0, whole - 1))
  const deadline = Math.min(Math.max(1, whole - waiting), MAX_DEADLINE)
  const isLeft = (field: string): boolean => shutdown === undefined && valueAt(rawConfig, 'config', field) !== undefined
  return [
    { name: 'TERMINATION_GRACE_PERIOD_SECONDS', value: String(max) },
    ...(isLeft('connectionMinTerminationDeadline')
      ? []
      : [{ name: 'CONNECTION_MIN_TERMINATION_DEADLINE', value: `${waiting}s` }]),
    ...(isLeft('connectionTerminationDeadline')
      ? []
      : [{ name: 'CONNECTION_TERMINATION_DEADLINE', value: `${deadline}s` }]),
  ]
}
