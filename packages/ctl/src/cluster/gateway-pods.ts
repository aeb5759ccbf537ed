import { selectorOf } from '@portico/controller/selector'
import type { ApiKind } from '@portico/controller/kube'
import { Fields } from '@portico/translate/fields'
import { type Cluster, type LiveResource, POD } from './cluster.ts'
import { nearNames } from './near-names.ts'
import { ClusterProblem } from './problem.ts'

const GATEWAY: ApiKind = {
  group: 'gateway.networking.k8s.io',
  version: 'v1',
  kind: 'Gateway',
  plural: 'gateways',
  namespaced: true,
}

/** Returns the ready Pods of a Gateway, sorted by name. Throws the reason when there are none. */
export async function readyPodsOf(cluster: Cluster, gateway: string): Promise<LiveResource[]> {
  const { namespace } = cluster
  const pods = await cluster.list(POD, { namespace, labels: selectorOf(gateway) })
  const ready = pods.filter(isReady).toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1))
  if (ready.length > 0) return ready
  if (pods.length > 0) {
    const states = pods.map((pod) => `${pod.metadata.name} (${stateOf(pod)})`).join(', ')
    throw new ClusterProblem(`no Pod of Gateway ${namespace}/${gateway} is ready: ${states}`)
  }
  throw await withoutPods(cluster, gateway)
}

function isReady(pod: LiveResource): boolean {
  const status = new Fields(pod.status, [], [])
  const ready = status.objects('conditions').find((condition) => condition.text('type') === 'Ready')
  return ready?.text('status') === 'True' && Reflect.get(pod.metadata, 'deletionTimestamp') === undefined
}

/** The state of a Pod in a word: why its container waits, or its phase. */
function stateOf(pod: LiveResource): string {
  if (Reflect.get(pod.metadata, 'deletionTimestamp') !== undefined) return 'ending'
  const status = new Fields(pod.status, [], [])
  const waiting = status
    .objects('containerStatuses')
    .flatMap((container) => container.object('state').object('waiting').text('reason') ?? [])
  return waiting[0] ?? (status.text('phase') === 'Running' ? 'running, not ready' : (status.text('phase') ?? 'unknown'))
}

async function withoutPods(cluster: Cluster, gateway: string): Promise<ClusterProblem> {
  const { namespace } = cluster
  const found = await cluster.get(GATEWAY, gateway, namespace)
  if (found !== undefined) {
    const bad = new Fields(found.status, [], [])
      .objects('conditions')
      .map((each) => ({
        type: each.text('type'),
        status: each.text('status'),
        reason: each.text('reason'),
        message: each.text('message'),
      }))
      .find(({ type, status }) => (type === 'Accepted' || type === 'Programmed') && status !== 'True')
    const why = bad === undefined ? '' : `: ${bad.type} is ${bad.status} (${bad.reason}): ${bad.message}`
    return new ClusterProblem(
      `Gateway ${namespace}/${gateway} has no Pods${why}; porticoctl status gateway/${gateway} -n ${namespace} shows more`,
    )
  }
  return noSuchGateway(cluster, gateway)
}

async function noSuchGateway(cluster: Cluster, gateway: string): Promise<ClusterProblem> {
  const { namespace } = cluster
  const here = await cluster.list(GATEWAY, { namespace })
  const near = nearNames(
    gateway,
    here.map(({ metadata }) => metadata.name),
  )
  const start = `there is no Gateway ${gateway} in namespace ${namespace}`
  if (near.length > 0)
    return new ClusterProblem(`${start}; did you mean ${near.map((name) => `gateway/${name}`).join(' or ')}?`)
  // The user may lack the right to list all namespaces.
  const everywhere = await cluster.list(GATEWAY, { namespace: null }).catch(() => [])
  const twins = everywhere
    .filter(({ metadata }) => metadata.name === gateway)
    .map(({ metadata }) => metadata.namespace ?? '')
  if (twins.length > 0) return new ClusterProblem(`${start}; there is one in ${twins.join(', ')}: name it with -n`)
  const names = here.map(({ metadata }) => metadata.name)
  const rest = names.length === 0 ? 'there are no Gateways' : `there are ${names.slice(0, 10).join(', ')}`
  return new ClusterProblem(`${start}: ${rest}`)
}
