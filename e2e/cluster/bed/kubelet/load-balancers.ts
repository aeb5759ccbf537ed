import type { Resource } from '@portico/translate'
import type { KubeClient } from '../../../../packages/controller/src/kube/kube-client.ts'
import { patchStatus } from '../../../../packages/controller/src/kube/objects.ts'
import { SERVICES } from './cluster.ts'
import { LOAD_BALANCERS } from './node-settings.ts'

interface ServiceObject extends Resource {
  metadata: Resource['metadata'] & { namespace: string }
  spec: { type?: string; loadBalancerIP?: string }
  status?: { loadBalancer?: { ingress?: readonly { ip?: string }[] } }
}

/** Gives every Service of type LoadBalancer an address. */
export class LoadBalancers {
  readonly #client: KubeClient
  readonly #addressByKey = new Map<string, string>()

  constructor(client: KubeClient) {
    this.#client = client
  }

  changed(key: string, resource: Resource | undefined): void {
    const service = resource as ServiceObject | undefined
    if (service?.spec.type !== 'LoadBalancer') {
      this.#addressByKey.delete(key)
      return
    }
    const given = service.status?.loadBalancer?.ingress?.[0]?.ip
    const wanted = service.spec.loadBalancerIP
    if (given !== undefined && (wanted === undefined || wanted === given)) {
      this.#addressByKey.set(key, given)
      return
    }
    const used = new Set([...this.#addressByKey].flatMap(([owner, address]) => (owner === key ? [] : [address])))
    const address = POOL.find((one) => !used.has(one) && (wanted === undefined || wanted === one))
    // One that asks for an address that is not there stays without, as in the field.
    if (address === undefined) return
    this.#addressByKey.set(key, address)
    const { namespace, name } = service.metadata
    patchStatus(
      this.#client,
      SERVICES,
      { namespace, name },
      { loadBalancer: { ingress: [{ ip: address, ipMode: 'VIP' }] } },
    ).catch((error: unknown) => console.log(error instanceof Error ? error.message : error))
  }
}

const POOL = Array.from({ length: 200 }, (_, index) => `${LOAD_BALANCERS}.${index + 1}`)
