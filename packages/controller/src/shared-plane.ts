import { parametersOfPlane, type Resource } from '@portico/translate'
import { isObject } from '@portico/http/json'
import { textAt, valueAt } from '@portico/translate/json'

/**
 * Returns the resource that stands for a shared data plane where a Gateway stands for its own: the GwParameters, which own
 * the deployed objects. Its spec is empty, because parameters say everything about the objects.
 */
export function planeResource({ apiVersion, kind, metadata }: Resource): Resource {
  return { apiVersion, kind, metadata, spec: {} }
}

/** Returns what a Gateway requests of its own data plane and cannot have, because it shares one. */
export function ignoredParameters(gateway: Resource, plane: string): string[] {
  const infrastructure = valueAt(gateway.spec, 'infrastructure')
  const asked = ['labels', 'annotations', 'parametersRef'].filter((name) => {
    const value = valueAt(infrastructure, name)
    return isObject(value) && Object.keys(value).length > 0
  })
  if (asked.length === 0) return []
  const fields = asked.map((name) => `spec.infrastructure.${name}`).join(', ')
  const parameters = parametersOfPlane(plane) ?? ''
  return [
    `${fields}: has no effect, because the Gateways of class ${textAt(gateway.spec, 'gatewayClassName') ?? ''} share one data plane; change GwParameters ${parameters}, or use a class without mergeGateways`,
  ]
}
