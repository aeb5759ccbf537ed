import { valueAt } from '@portico/translate/json'
import type { EnvVar, TypedParameters } from './parameters.ts'

/** The largest values that the data plane accepts, in seconds. */
const MAX_MIN = 3_600
const MAX_DEADLINE = 86_400

const usual = { min: 10, max: 60 }

/** The seconds after which Kubernetes kills a terminating Pod. */
export function gracePeriod({ shutdown = usual }: TypedParameters): number {
  return shutdown.max
}

/**
 * The shutdown times of the data plane, slightly shorter than the grace period, because a graceful end is better than a
 * kill. `rawConfig` applies when the parameters are unset.
 */
export function shutdownVariables({ shutdown, rawConfig }: TypedParameters): EnvVar[] {
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
