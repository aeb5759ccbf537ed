import { type Resource, sharedPlaneKey } from '@portico/translate'
import { MANAGED_BY, MANAGED_BY_LABEL } from '../deploy/identity.ts'
import { listAt, textAt } from '@portico/translate/json'
import { apiByKind, type DeployedKind, deployedKinds, isWorkload, type WorkloadKind } from '../deploy/objects.ts'
import { isRolledOut, readyPods } from '../deploy/rollout.ts'
import type { KubeClient } from '../kube/kube-client.ts'
import type { KubeError } from '../kube/kube-error.ts'
import { Reflector, type ReflectorOptions } from '../kube/reflector.ts'
import { NamespacedReflector } from './namespaced-reflector.ts'

interface DeployedWatchOptions {
  client: KubeClient
  /** Namespaces to watch; all when omitted. */
  namespaces?: readonly string[]
  /** Called when an object of this Gateway (`namespace/name`) changed. */
  changed: (gateway: string) => void
  /** Called when a Gateway gets its first ready Pod, or loses the last. */
  readinessChanged: (gateway: string) => void
  onError: (kind: string, error: KubeError) => void
  reflector?: ReflectorOptions
}

/** Watches the deployed objects of Gateways, so that foreign changes are repaired. */
export class DeployedWatch {
  readonly #reflectors: (Reflector | NamespacedReflector)[]
  readonly #seen = new Map<string, { gateway: string; shape: string }>()
  /** Ready Pods by Gateway and kind of workload, because a Gateway has both kinds while it switches. */
  readonly #readyByGateway = new Map<string, Partial<Record<WorkloadKind, number>>>()

  /** Kinds of workloads that were not read yet. */
  readonly #unread = new Set<DeployedKind>(deployedKinds.filter(isWorkload))

  constructor({ client, namespaces, changed, readinessChanged, onError, reflector = {} }: DeployedWatchOptions) {
    const options = { ...reflector, labelSelector: `${MANAGED_BY_LABEL}=${MANAGED_BY}` }
    this.#reflectors = deployedKinds.map((kind) => {
      const watcher = {
        changed: (key: string, object: Resource | undefined) => {
          const id = `${kind} ${key}`
          const gateway = object === undefined ? (this.#seen.get(id)?.gateway ?? null) : gatewayOf(object)
          if (gateway === null) return
          if (this.#take(id, { gateway, kind, object })) changed(gateway)
          if (isWorkload(kind) && this.#count(gateway, kind, object)) readinessChanged(gateway)
        },
        synced: () => void this.#unread.delete(kind),
        onError: (error: KubeError) => onError(kind, error),
      }
      const all = { ...options, metadataOnly: metadataSays.has(kind) }
      return namespaces === undefined
        ? new Reflector(client, apiByKind[kind], watcher, all)
        : new NamespacedReflector(client, apiByKind[kind], watcher, { ...all, namespaces })
    })
  }

  /** The number of ready Pods of a Gateway. */
  readyOf(gateway: string): number {
    const { Deployment = 0, DaemonSet = 0 } = this.#readyByGateway.get(gateway) ?? {}
    return Deployment + DaemonSet
  }

  /** Whether workloads of all kinds were read, so that `readyOf` counts. */
  get isReadyKnown(): boolean {
    return this.#unread.size === 0
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.run(signal)))
  }

  #take(
    id: string,
    { gateway, kind, object }: { gateway: string; kind: DeployedKind; object: Resource | undefined },
  ): boolean {
    const before = this.#seen.get(id)
    if (object === undefined) return this.#seen.delete(id)
    const shape = shapeOf(kind, object)
    this.#seen.set(id, { gateway, shape })
    return before?.shape !== shape
  }

  /** Returns whether the Gateway changed between no ready Pods and some. */
  #count(gateway: string, kind: WorkloadKind, object: Resource | undefined): boolean {
    const before = this.readyOf(gateway)
    this.#readyByGateway.set(gateway, { ...this.#readyByGateway.get(gateway), [kind]: readyPods(kind, object) })
    const ready = this.readyOf(gateway)
    if (ready === 0) this.#readyByGateway.delete(gateway)
    return ready > 0 !== before > 0
  }
}

/** The key of the data plane of an object: the Gateway that owns it, or the GwParameters by which several Gateways share one. */
function gatewayOf(object: Resource): string | null {
  const { namespace = '' } = object.metadata
  const nameOf = (kind: string): string | undefined =>
    textAt(
      listAt(object, 'metadata', 'ownerReferences').find((owner) => textAt(owner, 'kind') === kind),
      'name',
    )
  const [gateway, parameters] = [nameOf('Gateway'), nameOf('GwParameters')]
  if (gateway !== undefined) return `${namespace}/${gateway}`
  return parameters === undefined ? null : sharedPlaneKey(namespace, parameters)
}

/** Kinds for which metadata is enough, because every change is one of content. So Secrets are not kept in memory twice. */
const metadataSays: ReadonlySet<DeployedKind> = new Set(['ServiceAccount', 'ConfigMap', 'Secret'])

/**
 * A text that changes with the deployed fields, with the addresses of a Service and with the end of a rollout, but not
 * with counts of Pods.
 */
function shapeOf(kind: DeployedKind, object: Resource): string {
  const { metadata, spec } = object
  const { uid, labels, annotations, resourceVersion } = metadata
  if (kind === 'Service' || metadataSays.has(kind)) return `${uid} ${resourceVersion}`
  // A rollout increments this annotation.
  const { 'deployment.kubernetes.io/revision': _, ...others } = annotations ?? {}
  return JSON.stringify([uid, labels, others, spec, isWorkload(kind) && isRolledOut(kind, object)])
}
