import type { Resource } from '@portico/translate'
import { type JsonObject, textsAt } from '@portico/translate/json'
import { dataPlaneName, labelValue, objectName } from './names.ts'
import { apiVersion, type DeployedKind, type DeployedMetadata, type DeployedObject } from './objects.ts'
import { selectorOf } from './selector.ts'

export const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by'
export const MANAGED_BY = 'portico'

/** Names and labels that all objects of a Gateway share. */
export interface Identity {
  metadata: DeployedMetadata
  /** Labels of the Pods. They omit the version, because a new version must not replace identical Pods. */
  podLabels: Readonly<Record<string, string>>
  /** The selector of the workload, which is immutable. */
  selector: Readonly<Record<string, string>>
}

export function identityOf(
  gateway: Resource,
  { className, version }: { className: string; version: string },
): Identity {
  const { name: ownerName, namespace = 'default', uid = '' } = gateway.metadata
  const name = dataPlaneName(gateway)
  const selector = selectorOf(name)
  const given = Object.entries(textsAt(gateway.spec, 'infrastructure', 'labels'))
  const podLabels = {
    // The controller itself sets the labels of the Gateway API.
    ...Object.fromEntries(given.filter(([label]) => !label.startsWith('gateway.networking.k8s.io/'))),
    ...selector,
    // Gateways of several classes may share a data plane.
    ...(className !== '' && { 'gateway.networking.k8s.io/gateway-class-name': labelValue(className) }),
    [MANAGED_BY_LABEL]: MANAGED_BY,
  }
  const { apiVersion, kind } = gateway
  const owner = { apiVersion, kind, name: ownerName, uid, controller: true, blockOwnerDeletion: true }
  return {
    metadata: {
      name: objectName(name),
      namespace,
      labels: { ...podLabels, 'app.kubernetes.io/version': version },
      annotations: textsAt(gateway.spec, 'infrastructure', 'annotations'),
      ownerReferences: [owner],
    },
    podLabels,
    selector,
  }
}

/** An object of the Gateway, with the name and labels that all of them share. */
export function object({ metadata }: Identity, kind: DeployedKind, fields: JsonObject): DeployedObject {
  return { apiVersion: apiVersion(kind), kind, metadata, ...fields }
}

/** Whether the object was deployed for this Gateway (by uid). */
export function isOwnedBy(object: Resource | DeployedObject, gateway: Resource): boolean {
  const owners: unknown = Reflect.get(object.metadata, 'ownerReferences')
  if (!Array.isArray(owners)) return false
  return owners.some((owner: unknown) => {
    const isGateway =
      typeof owner === 'object' && owner !== null && 'uid' in owner && owner.uid === gateway.metadata.uid
    return isGateway && 'controller' in owner && owner.controller === true
  })
}
