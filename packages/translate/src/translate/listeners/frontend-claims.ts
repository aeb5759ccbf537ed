import { isObject } from '@portico/http/json'
import { listAt, textAt, textsAt, valueAt } from '../../resources/json.ts'
import type { Resource } from '../../resources/resource.ts'
import type { Query } from '../context.ts'
import { policyForce } from '../policy-force.ts'

/** Fields that only report. They close nothing when they cannot hold. */
export const REPORTING_FIELDS: readonly string[] = ['accessLog', 'tracing', 'requestId', 'metrics', 'recorder']

/** Fields that hold for a whole data plane, so that no Gateway of a shared one can set them. */
export const WHOLE_PLANE_FIELDS: readonly string[] = ['metrics', 'recorder']

/**
 * The GwPolicy (`namespace/name`) with settings for the connections of a Gateway, which hold for whole ports; null when there
 * is none. Read from the resource as written, because an invalid policy guards its ports too.
 */
export const frontendClaim: Query<string | null> = {
  name: 'frontendClaim',
  compute(context, key) {
    const [namespace = '', name = ''] = key.split('/')
    const labels = context.get('Gateway', key)?.metadata.labels ?? {}
    const isMeant = (policy: Resource): boolean =>
      listAt(policy.spec, 'targetRefs').some((ref) => isGateway(ref) && textAt(ref, 'name') === name) ||
      listAt(policy.spec, 'targetSelectors').some(
        (selector) =>
          isGateway(selector) &&
          Object.entries(textsAt(selector, 'matchLabels')).every(([label, value]) => labels[label] === value),
      )
    const found = context
      .keys('GwPolicy', { by: 'namespace', value: namespace })
      .flatMap((place) => context.read(policyForce, place) ?? [])
      .map(({ written, inForce }) => inForce ?? written)
      .find((policy) => hasConnectionFields(valueAt(policy.spec, 'frontend')) && isMeant(policy))
    return found === undefined ? null : `${namespace}/${found.metadata.name}`
  },
}

function hasConnectionFields(frontend: unknown): boolean {
  return isObject(frontend) && Object.keys(frontend).some((name) => !REPORTING_FIELDS.includes(name))
}

function isGateway(target: unknown): boolean {
  return textAt(target, 'kind') === 'Gateway' && textAt(target, 'sectionName') === undefined
}
