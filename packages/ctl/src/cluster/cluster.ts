import { existsSync, readFileSync } from 'node:fs'
import {
  type ApiKind,
  inClusterConnection,
  isStatus,
  KubeClient,
  NoKubeconfig,
  pathOf,
  PortForward,
  readKubeconfig,
} from '@portico/controller/kube'
import type { Resource } from '@portico/translate'
import type { Io } from '../io.ts'
import type { ClusterArguments } from './options.ts'
import { ClusterProblem, clusterProblem } from './problem.ts'

const OWN_NAMESPACE_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace'
const PAGE = 500

/** A resource read from the cluster, with its status. */
export type LiveResource = Resource & { status?: unknown }

export const POD: ApiKind = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true }

/** A cluster with the rights of its user. Failed requests throw a ClusterProblem. */
export class Cluster {
  readonly client: KubeClient
  /** The namespace for requests that name none. */
  readonly namespace: string

  constructor(client: KubeClient, namespace: string) {
    this.client = client
    this.namespace = namespace
  }

  /** Reads an object; undefined when it does not exist. */
  async get(kind: ApiKind, name: string, namespace?: string): Promise<LiveResource | undefined> {
    try {
      const path = pathOf(kind, { name, ...(namespace !== undefined && { namespace }) })
      return (await this.client.ask({ path })) as LiveResource
    } catch (error) {
      if (isStatus(error, 404)) return undefined
      throw clusterProblem(error, { verb: 'get', resource: resourceOf(kind), namespace: namespace ?? null })
    }
  }

  /** Reads a path that is not an object, such as a discovery document; undefined when it does not exist. */
  async ask(path: string): Promise<unknown> {
    try {
      return await this.client.ask({ path })
    } catch (error) {
      if (isStatus(error, 404)) return undefined
      throw clusterProblem(error, { verb: 'get', resource: path, namespace: null })
    }
  }

  /** Lists the objects of a namespace, or of the cluster; empty when the kind does not exist. */
  async list(kind: ApiKind, { namespace, labels }: ListOptions): Promise<LiveResource[]> {
    const path = pathOf(kind, namespace === null ? {} : { namespace })
    const labelSelector = Object.entries(labels ?? {})
      .map((pair) => pair.join('='))
      .join(',')
    const found: LiveResource[] = []
    let next: string | undefined
    do {
      const query = { limit: PAGE, continue: next, labelSelector: labelSelector === '' ? undefined : labelSelector }
      const page = await this.#page(kind, path, query, namespace)
      for (const item of page.items) found.push({ ...item, apiVersion: page.apiVersion, kind: kind.kind })
      next = page.next
    } while (next !== undefined)
    return found
  }

  async forward(pod: string, namespace: string): Promise<PortForward> {
    try {
      return await PortForward.open(this.client, { namespace, pod })
    } catch (error) {
      throw clusterProblem(error, { verb: 'create', resource: 'pods/portforward', namespace })
    }
  }

  close(): void {
    this.client.close()
  }

  async #page(
    kind: ApiKind,
    path: string,
    query: Readonly<Record<string, string | number | undefined>>,
    namespace: string | null,
  ): Promise<{ apiVersion: string; items: LiveResource[]; next: string | undefined }> {
    try {
      const list = (await this.client.ask({ path, query })) as {
        apiVersion: string
        items?: LiveResource[] | null
        metadata?: { continue?: string }
      }
      return { apiVersion: list.apiVersion, items: list.items ?? [], next: list.metadata?.continue || undefined }
    } catch (error) {
      if (isStatus(error, 404)) return { apiVersion: '', items: [], next: undefined }
      throw clusterProblem(error, { verb: 'list', resource: resourceOf(kind), namespace })
    }
  }
}

interface ListOptions {
  /** The namespace, or null for all. */
  namespace: string | null
  labels?: Readonly<Record<string, string>>
}

/** The name of the resource in rights: `gateways.gateway.networking.k8s.io`. */
function resourceOf({ group, plural }: ApiKind): string {
  return group === '' ? plural : `${plural}.${group}`
}

/**
 * Opens the cluster that kubectl would use: the named kubeconfig, then KUBECONFIG, then the home folder, then the Pod's
 * service account.
 */
export function openCluster({ namespace, context, kubeconfig }: ClusterArguments, env: Io['env']): Cluster {
  try {
    const found = readKubeconfig({
      env,
      ...(kubeconfig !== null && { file: kubeconfig }),
      ...(context !== null && { context }),
    })
    return new Cluster(new KubeClient(found), namespace ?? found.namespace ?? 'default')
  } catch (error) {
    const own =
      error instanceof NoKubeconfig && kubeconfig === null && context === null ? inClusterConnection(env) : undefined
    if (own !== undefined) return new Cluster(new KubeClient(own), namespace ?? ownNamespace())
    throw new ClusterProblem(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

function ownNamespace(): string {
  return existsSync(OWN_NAMESPACE_FILE) ? readFileSync(OWN_NAMESPACE_FILE, 'utf8').trim() : 'default'
}
