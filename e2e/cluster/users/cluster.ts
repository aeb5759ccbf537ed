import { fileURLToPath } from 'node:url'
import { eventually } from '../../../packages/gateway/src/testing/process.ts'
import { runProgram } from '../../../packages/ctl/src/testing/program.ts'
import { type Bed, startBed } from '../bed/bed.ts'
import { install, ownImages, rolledOut } from '../installed.ts'
import { ECHO_IMAGE, gateway, pods, route } from '../shop.ts'

export const PATIENCE_MS = 300_000
export const SYSTEM = 'portico-system'
const MCP_SERVER = fileURLToPath(new URL('mcp-server.ts', import.meta.url))

interface Answer {
  status: number
  headers: Headers
  text: string
  /** The name of the Pod that responded. */
  pod: string
}

/** An installed controller, two Gateways in two namespaces, and programs that log everything. */
export class Cluster {
  readonly bed: Bed
  /** The address of the load balancer of Gateway shop/web. */
  address = ''

  private constructor(bed: Bed) {
    this.bed = bed
  }

  static async start(): Promise<Cluster> {
    const mcp = { command: [process.execPath, MCP_SERVER] }
    const bed = await startBed({ images: { ...ownImages(), echo: ECHO_IMAGE, mcp } })
    const cluster = new Cluster(bed)
    await install(bed)
    await bed.kubectl('-n', SYSTEM, 'set', 'env', 'deployment/portico-controller', 'LOG_LEVEL=trace')
    await rolledOut(bed, SYSTEM, 'portico-controller')
    await Promise.all(['shop', 'bank'].map((name) => bed.kubectl('create', 'namespace', name)))
    const talkative = ['shop', 'bank'].map((namespace) => ({
      ...TALKATIVE,
      metadata: { name: 'talkative', namespace },
    }))
    await bed.apply(
      ...talkative,
      ...[gateway('web', { parameters: 'talkative' }), gateway('safe', { namespace: 'bank', parameters: 'talkative' })],
      ...[...pods('cart', { replicas: 3 }), ...pods('ledger', { namespace: 'bank', replicas: 1 }), route('cart', '/')],
    )
    for (const [namespace, name] of [
      ['shop', 'web'],
      ['bank', 'safe'],
    ] as const) {
      await bed.kubectl('-n', namespace, 'wait', '--for=condition=Programmed', '--timeout=300s', `gateway/${name}`)
    }
    cluster.address = await cluster.field('shop', 'gateway/web', '.status.addresses[0].value')
    await eventually('it is served', async () => (await cluster.ask('/')).status === 200, PATIENCE_MS)
    return cluster
  }

  field(namespace: string, what: string, path: string): Promise<string> {
    return this.bed.kubectl('-n', namespace, 'get', what, '-o', `jsonpath={${path}}`)
  }

  /** Status and reason of a condition of a route at its first parent. */
  condition(route: string, type: string, namespace = 'shop'): Promise<string> {
    const one = `.status.parents[0].conditions[?(@.type=="${type}")]`
    return this.field(namespace, `httproute/${route}`, `${one}.status} {${one}.reason`)
  }

  /** A loopback port that leads to the load balancer. */
  port(): Promise<number> {
    return this.bed.reach(this.address, 80)
  }

  async ask(path: string, own: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const headers = { ...own, connection: 'close' }
    const signal = AbortSignal.timeout(10_000)
    const answer = await fetch(`http://127.0.0.1:${await this.port()}${path}`, { headers, signal })
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, text, pod: /"pod":"([^"]+)"/.exec(text)?.[1] ?? '' }
  }

  async answers(path: string, status: number): Promise<void> {
    const isSo = async (): Promise<boolean> => (await this.ask(path)).status === status
    await eventually(`${path} answers with ${status}`, isSo, PATIENCE_MS)
  }

  async podsOf(namespace: string, selector: string): Promise<string[]> {
    const path = 'jsonpath={.items[*].metadata.name}'
    const names = await this.bed.kubectl('-n', namespace, 'get', 'pods', '-l', selector, '-o', path)
    return names.split(' ').filter(Boolean)
  }

  porticoctl(...args: string[]) {
    return runProgram([...args, '--kubeconfig', this.bed.kubeconfig])
  }
}

/** Pods of the Gateway shop/web. */
export const WEB = 'gateway.networking.k8s.io/gateway-name=web'

const TALKATIVE = { apiVersion: 'portico.dev/v1alpha1', kind: 'GwParameters', spec: { logging: { level: 'trace' } } }
