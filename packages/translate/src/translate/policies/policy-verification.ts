import { readValue } from '../../resources/material.ts'
import type { Reason } from '../../resources/reasons.ts'
import { testsOf } from '../verified-policy.ts'
import type { Query } from '../context.ts'
import { newestPlan } from './policy-plan.ts'

/** The newest spec of a GwPolicy with `spec.verify`, and the tests that it must pass. */
export interface PolicyVerification {
  uid: string
  /** The newest generation. */
  generation: number
  /** The newest spec, as JSON. */
  spec: string
  /** The tests with the location that messages name; null when the ConfigMap does not have them. */
  tests: { text: string; location: string } | null
  /** Why the spec cannot be tested; null when it can. */
  problem: { reason: Reason; message: string } | null
}

/** The verification of a GwPolicy, by `namespace/name`; null without `spec.verify`. */
export const policyVerification: Query<PolicyVerification | null> = {
  name: 'policyVerification',
  compute(context, place) {
    const resource = context.get('GwPolicy', place)
    const wanted = resource === undefined ? null : testsOf(resource)
    if (resource === undefined || wanted === null || context.settings.verify === 'skipped') return null
    const { uid = '', generation = 0 } = resource.metadata
    // The plan needs the Secrets and ConfigMaps of the newest spec, which nothing else may refer to.
    const problems = context.read(newestPlan, place)?.problems ?? []
    const found = context.get('ConfigMap', wanted.configMap)
    const text = found === undefined ? undefined : readValue(found, wanted.key)
    const missing = found === undefined ? `not found` : `has no key ${wanted.key}`
    return {
      ...{ uid, generation, spec: JSON.stringify(resource.spec) },
      tests: text === undefined ? null : { text, location: `ConfigMap ${wanted.configMap} ${wanted.key}` },
      problem:
        problems.length > 0
          ? { reason: 'Invalid', message: problems.join('; ') }
          : text === undefined
            ? { reason: 'TestsNotFound', message: `ConfigMap ${wanted.configMap} ${missing}` }
            : null,
    }
  },
}
