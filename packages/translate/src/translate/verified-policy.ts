import { isObject } from '@portico/http/json'
import { TESTS_KEY } from '../resources/gw-policy.ts'
import { listAt, textAt, valueAt } from '../resources/json.ts'
import type { Resource } from '../resources/resource.ts'
import type { Condition, VerifiedRecord } from '../resources/status.ts'

/** The ConfigMap with the tests of a GwPolicy, as `namespace/name`, and the key in it; null without `spec.verify`. */
export function testsOf({ metadata, spec }: Resource): { configMap: string; key: string } | null {
  const reference = valueAt(spec, 'verify', 'tests', 'configMap')
  if (valueAt(spec, 'verify') === undefined) return null
  const name = textAt(reference, 'name') ?? ''
  return { configMap: `${metadata.namespace ?? ''}/${name}`, key: textAt(reference, 'key') ?? TESTS_KEY }
}

/** Returns null for a status without a record. */
export function recordOf({ status }: Resource): VerifiedRecord | null {
  const found = valueAt(status, 'verified')
  if (!isObject(found)) return null
  const [checked, spec] = [textAt(found, 'checked'), textAt(found, 'spec')]
  const generation = found['generation']
  return {
    ...(checked !== undefined && { checked }),
    ...(typeof generation === 'number' && spec !== undefined && { generation, spec }),
  }
}

/** The condition `Verified` that the status has for the newest spec; null when it has none. */
export function verifiedCondition({ metadata, status }: Resource): Condition | null {
  const found = listAt(status, 'conditions').find((each) => textAt(each, 'type') === 'Verified')
  if (!isObject(found) || found['observedGeneration'] !== metadata.generation) return null
  const { lastTransitionTime: _time, ...condition } = found
  return condition as unknown as Condition
}

/** The GwPolicy with the spec that is in force; null when it has `spec.verify`, and no spec is in force yet. */
export function policyWithForce(resource: Resource): Resource | null {
  if (testsOf(resource) === null) return resource
  const { generation, spec } = recordOf(resource) ?? {}
  if (spec === undefined || generation === undefined) return null
  if (generation === resource.metadata.generation) return resource
  const read = parseSpec(spec)
  return read === null ? null : { ...resource, spec: read, metadata: { ...resource.metadata, generation } }
}

/**
 * Returns a GwPolicy that has `spec.verify` and no record yet with a record of the spec that was in force before, so
 * that adding `spec.verify` closes nothing while the first tests run.
 */
export function keepForce(resource: Resource, before: Resource | undefined): Resource {
  if (testsOf(resource) === null || recordOf(resource) !== null) return resource
  const isSame = before !== undefined && before.metadata.uid === resource.metadata.uid
  const force = isSame ? policyWithForce(before) : null
  const { generation } = force?.metadata ?? {}
  if (force === null || generation === undefined) return resource
  const verified: VerifiedRecord = { generation, spec: JSON.stringify(force.spec) }
  return { ...resource, status: { ...(isObject(resource.status) && resource.status), verified } }
}

function parseSpec(text: string): object | null {
  try {
    const read: unknown = JSON.parse(text)
    return isObject(read) ? read : null
  } catch {
    return null
  }
}
