import type { Resource } from '../resources/resource.ts'
import { policyWithForce } from './verified-policy.ts'
import type { Query } from './context.ts'

/** A GwPolicy as written, and with the spec that is in force. */
interface PolicyForce {
  written: Resource
  /** Null when the tests of the policy have not passed yet, and no other spec is in force. */
  inForce: Resource | null
}

/** The spec in force of a GwPolicy, by `namespace/name`. */
export const policyForce: Query<PolicyForce | null> = {
  name: 'policyForce',
  compute(context, place) {
    const written = context.get('GwPolicy', place)
    if (written === undefined) return null
    const isFree = context.settings.verify === 'skipped' || context.read(context.trial, place)
    return { written, inForce: isFree ? written : policyWithForce(written) }
  },
}
