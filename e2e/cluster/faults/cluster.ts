import assert from 'node:assert/strict'
import type { ApiKind } from '../../../packages/controller/src/kube/kinds.ts'
import { applyObject, getObject, type Name, type ObjectBody } from '../../../packages/controller/src/kube/objects.ts'
import { apiKindOf, watchedKinds } from '../../../packages/controller/src/watch/watched-kinds.ts'
import { eventually } from '../../../packages/gateway/src/testing/process.ts'
import { ApiProxy, THROUGH_PROXY } from '../api-proxy/api-proxy.ts'
import { type Bed, startBed } from '../bed/bed.ts'
import { install, ownImages } from '../installed.ts'
import { ConstantLoad } from '../load/constant-load.ts'
import { ECHO_IMAGE, gateway, grant, pods, route } from '../shop.ts'

export const PATIENCE_MS = 300_000
export const SYSTEM = 'portico-system'
export const ROUTES = kindOf('HTTPRoute')

interface PodSeen {
  name: string
  address: string
  isReady: boolean
  restarts: number
}

/** Two controllers, two data planes, and traffic that never stops; the controllers reach the API server by a proxy. */
export class Cluster {
  readonly bed: Bed
  readonly proxy: ApiProxy
  /** The address of the load balancer. */
  address = ''
  #load: ConstantLoad | undefined
  #flips = 0

  private constructor(bed: Bed) {
    this.bed = bed
    this.proxy = new ApiProxy(bed)
  }

  /** `prepare` is done before the controllers are there. */
  static async start(prepare: (bed: Bed) => Promise<void>): Promise<Cluster> {
    const { 'portico-controller': controller, ...others } = ownImages()
    const throughProxy = { command: [], ...controller, env: THROUGH_PROXY }
    const bed = await startBed({ images: { ...others, 'portico-controller': throughProxy, echo: ECHO_IMAGE } })
    const cluster = new Cluster(bed)
    await prepare(bed)
    await install(bed)
    await bed.kubectl('-n', SYSTEM, 'scale', 'deployment/portico-controller', '--replicas=2')
    await Promise.all(['shop', 'bank'].map((name) => bed.kubectl('create', 'namespace', name)))
    const listeners = [
      { name: 'http', port: 80, protocol: 'HTTP' },
      { name: 'tcp', port: 9000, protocol: 'TCP' },
    ]
    await bed.apply(
      TWO_DATA_PLANES,
      ...[...pods('cart'), ...pods('other'), ...pods('ledger', { namespace: 'bank' })],
      ...[gateway('web', { parameters: 'two', listeners }), grant('shop', 'bank')],
      ...[route('cart', '/'), route('other', '/other', 'other'), route('ledger', '/ledger', 'ledger', { in: 'bank' })],
    )
    await eventually(
      'both data planes are ready',
      async () => (await cluster.ready('shop', WEB)).length === 2,
      PATIENCE_MS,
    )
    await eventually('both controllers are ready', async () => (await cluster.ready(SYSTEM)).length === 2, PATIENCE_MS)
    const answer = await bed.kubectl(
      '-n',
      'shop',
      'get',
      'gateway',
      'web',
      '-o',
      'jsonpath={.status.addresses[0].value}',
    )
    cluster.address = answer
    for (const path of ['/', '/ledger']) {
      await eventually('it is served', async () => (await cluster.ask(path)).status === 200, PATIENCE_MS)
    }
    cluster.#load = new ConstantLoad(bed, { urls: ['/', '/ledger'].map((path) => `http://${cluster.address}${path}`) })
    return cluster
  }

  get load(): ConstantLoad {
    return this.#load ?? assert.fail('there is no load yet')
  }

  async stop(): Promise<void> {
    await this.#load?.stop()
    await this.proxy.stop()
    await this.bed.stop()
  }

  /** Through the load balancer, or from a Pod. */
  async ask(path: string, address = this.address): Promise<{ status: number; pod: string }> {
    const url = `http://127.0.0.1:${await this.bed.reach(address, 80)}${path}`
    try {
      const answer = await fetch(url, { headers: { connection: 'close' }, signal: AbortSignal.timeout(10_000) })
      const text = await answer.text()
      return { status: answer.status, pod: /"pod":"([^"]+)"/.exec(text)?.[1] ?? '' }
    } catch {
      return { status: 0, pod: '' }
    }
  }

  /** Changes a route, and waits until every data plane does as it says; how long that took. */
  async change(patienceMs = PATIENCE_MS): Promise<number> {
    const service = (this.#flips += 1) % 2 === 0 ? 'cart' : 'other'
    const planes = await this.ready('shop', WEB)
    assert.ok(planes.length > 0)
    const wanted = route('flip', '/flip', service)
    // An API server that has just started may not answer in time.
    const isTaken = (): Promise<boolean> =>
      this.apply(ROUTES, wanted).then(
        () => true,
        () => false,
      )
    await eventually('the change is taken', isTaken, PATIENCE_MS)
    const startedAt = performance.now()
    for (const { address } of planes) {
      const leadsThere = async (): Promise<boolean> => (await this.ask('/flip', address)).pod.startsWith(`${service}-`)
      await eventually(`/flip leads to ${service}`, leadsThere, patienceMs)
    }
    return performance.now() - startedAt
  }

  /** Waits until the status of the changed route is about its last change. */
  async told(): Promise<void> {
    await eventually(
      'the status is about the last change',
      async () => {
        const found = await this.get(ROUTES, { namespace: 'shop', name: 'flip' })
        const parents = (found as { status?: { parents?: readonly Parent[] } } | undefined)?.status?.parents ?? []
        const conditions = parents.flatMap((parent) => parent.conditions)
        const generation = found?.metadata.generation
        return conditions.some((one) => one.type === 'Accepted' && one.observedGeneration === generation)
      },
      PATIENCE_MS,
    )
  }

  get(kind: ApiKind, name: Name) {
    return getObject(this.bed.client, kind, name)
  }

  apply(kind: ApiKind, object: ObjectBody) {
    return applyObject(this.bed.client, kind, object, 'test')
  }

  async pods(namespace: string, selector = ''): Promise<PodSeen[]> {
    const path = `/api/v1/namespaces/${namespace}/pods`
    const { items } = (await this.bed.client.ask({ path, query: { labelSelector: selector } })) as { items: Pod[] }
    return items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata, status }) => ({
        name: metadata.name,
        address: status.podIP ?? '',
        isReady: status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true,
        restarts: status.containerStatuses?.[0]?.restartCount ?? 0,
      }))
  }

  async ready(namespace: string, selector?: string): Promise<PodSeen[]> {
    return (await this.pods(namespace, selector)).filter(({ isReady }) => isReady)
  }

  /** Ends the processes of a Pod without a word; its containers are started anew. */
  async kill(pod: string): Promise<void> {
    const script = `kill -9 $(grep -lzx 'HOSTNAME=${pod}' /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3)`
    const { code, stderr } = await this.bed.exec(['sh', '-c', script])
    assert.equal(code, 0, stderr)
  }

  async metric(address: string, port: number, name: string): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${await this.bed.reach(address, port)}/metrics`)
    const [, value] = new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(await answer.text()) ?? []
    return Number(value)
  }

  /** Whether every data plane hears from a controller. */
  async isConnected(): Promise<boolean> {
    const planes = await this.ready('shop', WEB)
    const connected = planes.map(({ address }) => this.metric(address, 15_020, 'portico_controller_connected'))
    return (await Promise.all(connected)).every((is) => is === 1)
  }

  holder(): Promise<string> {
    const path = ['lease', 'portico-controller', '-o', 'jsonpath={.spec.holderIdentity}']
    return this.bed.kubectl('-n', SYSTEM, 'get', ...path)
  }

  async apiServes(): Promise<void> {
    const serves = (): Promise<boolean> =>
      this.bed.kubectl('get', '--raw', '/readyz').then(
        () => true,
        () => false,
      )
    await eventually('the API server serves', serves, PATIENCE_MS)
  }
}

/** Pods of the Gateway. */
export const WEB = 'gateway.networking.k8s.io/gateway-name=web'

const TWO_DATA_PLANES = {
  apiVersion: 'portico.dev/v1alpha1',
  kind: 'GwParameters',
  metadata: { name: 'two', namespace: 'shop' },
  spec: { deployment: { spec: { replicas: 2 } } },
}

interface Parent {
  conditions: readonly { type: string; observedGeneration?: number }[]
}

interface Pod {
  metadata: { name: string; deletionTimestamp?: string }
  status: {
    podIP?: string
    conditions?: readonly { type: string; status: string }[]
    containerStatuses?: readonly { restartCount: number }[]
  }
}

export function kindOf(kind: string): ApiKind {
  const watched = watchedKinds.find((each) => each.kind === kind) ?? assert.fail(`no kind ${kind}`)
  return apiKindOf(watched, watched.versions[0] ?? '')
}
