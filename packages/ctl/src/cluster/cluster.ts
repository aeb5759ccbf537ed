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

/** Of an object that the cluster gave: its status is read too. */
export type LiveResource = Resource & { status?: unknown }

export const POD: ApiKind = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true }

/** A cluster as its user may see it. What cannot be had is a ClusterProblem. */
export class Cluster {
  readonly client: KubeClient
  /** What is meant where no namespace is named. */
  readonly namespace: string

  constructor(client: KubeClient, namespace: string) {
    this.client = client
    this.namespace = namespace
  }

  /** Undefined when there is none. */
  async get(kind: ApiKind, name: string, namespace?: string): Promise<LiveResource | undefined> {
    try {
      const path = pathOf(kind, { name, ...(namespace !== undefined && { namespace }) })
      return (await this.client.ask({ path })) as LiveResource
    } catch (error) {
      if (isStatus(error, 404)) return undefined
      throw clusterProblem(error, { verb: 'get', resource: resourceOf(kind), namespace: namespace ?? null })
    }
  }

  /** What a path without objects says, such as which kinds there are; undefined when there is no such path. */
  async ask(path: string): Promise<unknown> {
    try {
      return await this.client.ask({ path })
    } catch (error) {
      if (isStatus(error, 404)) return undefined
      throw clusterProblem(error, { verb: 'get', resource: path, namespace: null })
    }
  }

  /** All of a namespace, or of the cluster; nothing where the kind is not known. */
  async list(kind: ApiKind, { namespace, labels }: ListPlace): Promise<LiveResource[]> {
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

export interface ListPlace {
  /** Null for all. */
  namespace: string | null
  labels?: Readonly<Record<string, string>>
}

/** `gateways.gateway.networking.k8s.io`, as rights name it. */
function resourceOf({ group, plural }: ApiKind): string {
  return group === '' ? plural : `${plural}.${group}`
}

/** Found as kubectl finds it: the files that are named, else those of KUBECONFIG, else the home folder's, else the Pod's own. */
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
