import type { Resource } from '@portico/translate'
import type { KubeClient } from '../kube/kube-client.ts'
import { apiVersionOf, pathOf } from '../kube/kinds.ts'
import { applyObject, deleteObject, getObject } from '../kube/objects.ts'
import { CONTROLLER_NAME } from '../identity.ts'
import { listAt } from '@portico/translate/json'
import { apiByKind, type DeployedKind } from './objects.ts'
import type { Cluster } from './reconcile.ts'

/** Returns the cluster behind an API server; applied fields are owned by the controller's field manager. */
export function kubeCluster(client: KubeClient): Cluster {
  return {
    async list(kind, namespace, labels) {
      const api = apiByKind[kind]
      const labelSelector = Object.entries(labels)
        .map(([name, value]) => `${name}=${value}`)
        .join(',')
      const found = await client.ask({ path: pathOf(api, { namespace }), query: { labelSelector } })
      const items = listAt(found, 'items') as readonly Resource[]
      return items.map((item) => ({ ...item, apiVersion: apiVersionOf(api), kind }))
    },
    get: (kind, namespace, name) => getObject(client, apiByKind[kind], { namespace, name }),
    apply: (object) => applyObject(client, apiByKind[object.kind], object, CONTROLLER_NAME),
    async remove({ kind, metadata: { namespace = '', name, uid } }) {
      const api = apiByKind[kind as DeployedKind]
      await deleteObject(client, api, { namespace, name, ...(uid !== undefined && { uid }) })
    },
  }
}
